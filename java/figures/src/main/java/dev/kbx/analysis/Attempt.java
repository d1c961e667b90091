package dev.kbx.analysis;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One attempt at a task, whose rounds improve on each other.
 *
 * @param run the run that judged it; empty if each round is a run of its own
 */
record Attempt(
    String run,
    String suite,
    String category,
    String task,
    @Nullable String method,
    @Nullable String model,
    int sample) {

  /** Tells which attempt a row belongs to. */
  record Reader(boolean roundsInRunsOfTheirOwn) {
    static Reader of(List<VerdictRow> rows) {
      Map<String, Set<Integer>> rounds = new HashMap<>();
      for (VerdictRow row : rows) {
        if (row.round() == null) return new Reader(false);
        rounds.computeIfAbsent(row.run(), _ -> new HashSet<>()).add(row.round());
      }
      return new Reader(
          rounds.size() > 1 && rounds.values().stream().allMatch(own -> own.size() == 1));
    }

    Attempt of(VerdictRow row) {
      return new Attempt(
          roundsInRunsOfTheirOwn ? "" : row.run(),
          row.suite(),
          row.category(),
          row.task(),
          row.method(),
          row.model(),
          row.sample());
    }
  }
}
