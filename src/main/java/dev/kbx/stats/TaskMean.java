package dev.kbx.stats;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The mean of a figure that each task has, with its 95 % percentile bootstrap interval over tasks.
 *
 * @param low lower end; null with fewer than two tasks, or if all have the same value, as
 *     resampling then has no spread
 * @param high upper end, likewise
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TaskMean(double value, @Nullable Double low, @Nullable Double high) {
  /**
   * Of these values.
   *
   * @param values one for each task, at least one
   */
  public static TaskMean of(double[] values) {
    if (values.length == 0) throw new IllegalArgumentException("no tasks");
    double mean = mean(values);
    if (Arrays.stream(values).distinct().count() == 1) return new TaskMean(mean, null, null);
    Bootstrap.Interval interval = Bootstrap.interval(values, TaskMean::mean);
    return new TaskMean(mean, interval.low(), interval.high());
  }

  private static double mean(double[] values) {
    double sum = 0;
    for (double value : values) sum += value;
    return sum / values.length;
  }
}
