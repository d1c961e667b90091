package dev.kbx.analysis;

import dev.kbx.analysis.Comparison.Row;
import dev.kbx.analysis.Comparison.Side;
import dev.kbx.analysis.SpeedChange.Outcome;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Speed change of the candidates that are correct in both runs and timed on the same sizes.
 *
 * @param matched number of such candidates
 * @param change geometric mean over tasks of each task's geometric mean of now ÷ then, with the
 *     bootstrap interval over tasks; its ends are null for a single task
 * @param set means over all correct, timed candidates of each run
 */
public record MatchedSpeed(
    int matched, int faster, int slower, int same, Portability.Mean change, SetMean set) {

  /**
   * Geometric means over the correct, timed candidates of each run, without pairs timed on
   * different sizes. The quotient of the two means is {@code change} (candidates in both runs)
   * times {@code composition} (candidates in one run only): the mean can fall although no candidate
   * became slower.
   *
   * @param change geometric mean of now ÷ then over the candidates in both runs, each with equal
   *     weight; otherwise the quotient would not factor
   */
  public record SetMean(
      int candidatesThen,
      double then,
      int candidatesNow,
      double now,
      double change,
      double composition) {}

  /** Null if no pair has comparable timings. */
  static @Nullable MatchedSpeed of(List<Row> rows, Pairs pairs) {
    List<Double> changes = new ArrayList<>();
    Map<String, List<Double>> byTask = new LinkedHashMap<>();
    for (Row row : rows) {
      SpeedChange speed = row.speed();
      if (speed == null || speed.value() == null) continue;
      changes.add(speed.value());
      String task = row.suite() + "/" + row.category() + "/" + row.task();
      byTask.computeIfAbsent(task, _ -> new ArrayList<>()).add(speed.value());
    }
    if (changes.isEmpty()) return null;
    double[] means = byTask.values().stream().mapToDouble(MatchedSpeed::mean).toArray();
    return new MatchedSpeed(
        changes.size(),
        count(rows, Outcome.FASTER),
        count(rows, Outcome.SLOWER),
        count(rows, Outcome.SAME),
        Portability.Mean.of(means),
        set(rows, pairs, mean(changes)));
  }

  private static int count(List<Row> rows, Outcome outcome) {
    return Math.toIntExact(
        rows.stream()
            .filter(row -> row.speed() != null && row.speed().outcome() == outcome)
            .count());
  }

  private static SetMean set(List<Row> rows, Pairs pairs, double change) {
    List<Double> then = new ArrayList<>();
    List<Double> now = new ArrayList<>();
    for (Row row : rows) {
      // A pair timed on different sizes is in neither mean.
      if (row.speed() != null && row.speed().value() == null) continue;
      add(then, row.then());
      add(now, row.now());
    }
    for (VerdictRow left : pairs.onlyThen()) add(then, Side.of(left));
    for (VerdictRow joined : pairs.onlyNow()) add(now, Side.of(joined));
    double before = mean(then);
    double after = mean(now);
    return new SetMean(then.size(), before, now.size(), after, change, after / before / change);
  }

  private static void add(List<Double> speedups, Side side) {
    Speedup speedup = side.speedup();
    if (side.status() == Status.CORRECT && speedup != null) speedups.add(speedup.value());
  }

  private static double mean(List<Double> ratios) {
    return Ratio.geometricMean(ratios.stream().mapToDouble(Double::doubleValue).toArray());
  }
}
