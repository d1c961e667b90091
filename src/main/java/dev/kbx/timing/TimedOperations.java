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
 * PyTorch's operations in the calls of one size that are launched from Python. Timed calls are not
 * watched, since watching costs time; but operations are counted in all calls. One that computes in
 * every timed call and not in the watched one shows a candidate that behaves while it is watched.
 */
final class TimedOperations {
  private final Set<String> timed = new TreeSet<>();
  private @Nullable Set<String> watched;

  /** Operations that ran in every call of a timed batch. */
  void timed(List<String> operations) {
    timed.addAll(operations);
  }

  /** Operations that ran in the watched call; null if the runner has not counted them. */
  void watched(@Nullable List<String> operations) {
    if (operations == null) return;
    if (watched == null) watched = new HashSet<>();
    watched.addAll(operations);
  }

  /** The finding, if timed calls run what the watched call does not. */
  Optional<Outcome> judge(String shape) {
    if (watched == null) return Optional.empty();
    Set<String> hidden = new TreeSet<>(timed);
    hidden.removeAll(watched);
    if (hidden.isEmpty()) return Optional.empty();
    return Optional.of(
        Outcome.pretended(
            Stage.PERF,
            "at %s, timed calls run operations of PyTorch that the watched call does not: %s"
                .formatted(shape, String.join(", ", hidden)),
            "compute in the same way in every call, timed or not"));
  }
}
