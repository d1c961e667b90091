package dev.kbx.timing;

import dev.kbx.outcome.Outcome;
import dev.kbx.verdict.Stage;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * PyTorch's operations in the calls of one size. Timed calls are not watched, since watching costs
 * time; but operations are counted in all calls. One that computes as often as a timed batch has
 * calls, and not when one of these calls is repeated watched, shows a candidate that behaves while
 * it is watched. Calls on other values show nothing: what PyTorch does may depend on them, as for
 * {@code torch.linalg.eigvals}, which computes otherwise where all eigenvalues are real.
 */
final class TimedOperations {
  private final Set<String> watched = new HashSet<>();

  /** Operations that ran in a watched call; null if the runner has not counted them. */
  void watched(@Nullable List<String> operations) {
    if (operations != null) watched.addAll(operations);
  }

  /** Which operations of a timed batch, as in {@link Batch#ran}, were in no watched call. */
  Set<String> unwatched(List<String> timed) {
    Set<String> unwatched = new TreeSet<>(timed);
    unwatched.removeAll(watched);
    return unwatched;
  }

  /** The finding, if a timed batch ran what watched calls, one of them on its values, do not. */
  Optional<Outcome> judge(List<String> timed, String shape) {
    Set<String> hidden = unwatched(timed);
    if (hidden.isEmpty()) return Optional.empty();
    return Optional.of(
        Outcome.pretended(
            Stage.PERF,
            "at %s, timed calls run operations of PyTorch that the watched call does not: %s"
                .formatted(shape, String.join(", ", hidden)),
            "compute in the same way in every call, timed or not"));
  }
}
