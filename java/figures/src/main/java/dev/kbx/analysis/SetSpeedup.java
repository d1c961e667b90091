package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.kbx.stats.Median;
import dev.kbx.stats.Ratio;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Speedup over the tasks of correct, timed candidates. A task counts once, with the geometric mean
 * of its candidates, which are not independent.
 *
 * @param candidates number of correct, timed candidates
 * @param tasks number of their tasks
 * @param low lower end of the geometric mean's 95 % bootstrap interval over tasks; null for a
 *     single task
 * @param slower number of tasks slower than the baseline
 */
@JsonPropertyOrder({"candidates", "tasks", "geometric_mean", "low", "high", "median", "slower"})
public record SetSpeedup(
    int candidates,
    int tasks,
    double geometricMean,
    @Nullable Double low,
    @Nullable Double high,
    double median,
    long slower) {

  /** Null if no candidate is correct and timed. */
  public static @Nullable SetSpeedup of(List<VerdictRow> rows) {
    List<VerdictRow> correct = rows.stream().filter(row -> row.correctSpeedup() != null).toList();
    if (correct.isEmpty()) return null;
    double[] values =
        correct.stream().collect(Collectors.groupingBy(VerdictRow::path)).values().stream()
            .mapToDouble(candidates -> Ratio.geometricMean(values(candidates)))
            .toArray();
    Ratio ratio = values.length < 2 ? null : Ratio.ofTasks(values);
    return new SetSpeedup(
        correct.size(),
        values.length,
        Ratio.geometricMean(values),
        ratio == null ? null : ratio.low(),
        ratio == null ? null : ratio.high(),
        Median.of(values),
        Arrays.stream(values).filter(v -> v < 1).count());
  }

  private static double[] values(List<VerdictRow> rows) {
    return rows.stream()
        .map(VerdictRow::correctSpeedup)
        .filter(Objects::nonNull)
        .mapToDouble(Ratio::value)
        .toArray();
  }
}
