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
 * time; but which operations run is noted in all calls. Those that run in timed calls, and not when
 * these are repeated watched, show a candidate that behaves while it is watched. Calls on other
 * values show nothing: what PyTorch does may depend on them, as for {@code torch.linalg.eigvals},
 * which computes otherwise where all eigenvalues are real.
 */
final class TimedOperations {
  private final Set<String> watched = new HashSet<>();

  /** Makes a timed call again. */
  interface Repeat<T> {
    /**
     * Watches it, tells {@link TimedOperations#watched} which operations ran; a finding, if any.
     */
    Optional<Outcome> watch(T call) throws InterruptedException;
  }

  /** Operations that ran in a watched call; null if the runner has not noted them. */
  void watched(@Nullable List<String> operations) {
    if (operations != null) watched.addAll(operations);
  }

  /**
   * Which operations of a timed batch, as in {@link Batch#ran}, were in no watched call. None if
   * that is so in less than half of its calls: the others decide its median.
   */
  Set<String> unwatched(List<List<String>> timed) {
    Set<String> unwatched = new TreeSet<>();
    int calls = 0;
    for (List<String> ran : timed) {
      if (watched.containsAll(ran)) continue;
      calls++;
      unwatched.addAll(ran);
    }
    unwatched.removeAll(watched);
    return 2 * calls >= timed.size() ? unwatched : Set.of();
  }

  /** Repeats a batch's calls until they explain what ran in it; a finding if none does. */
  <T> Optional<Outcome> explain(
      List<List<String>> timed, List<T> calls, Repeat<T> repeat, String shape)
      throws InterruptedException {
    for (T call : calls) {
      if (unwatched(timed).isEmpty()) return Optional.empty();
      Optional<Outcome> found = repeat.watch(call);
      if (found.isPresent()) return found;
    }
    return judge(timed, shape);
  }

  /** The finding, if a timed batch ran what watched calls do not. */
  Optional<Outcome> judge(List<List<String>> timed, String shape) {
    Set<String> hidden = unwatched(timed);
    if (hidden.isEmpty()) return Optional.empty();
    return Optional.of(
        Outcome.pretended(
            Stage.PERF,
            "at %s, timed calls run operations of PyTorch that the same calls watched do not: %s"
                .formatted(shape, String.join(", ", hidden)),
            "compute in the same way in every call, timed or not"));
  }
}
