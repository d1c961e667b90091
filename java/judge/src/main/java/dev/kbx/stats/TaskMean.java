package dev.kbx.stats;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The mean of a figure that each task has, with its 95 % percentile bootstrap interval over tasks.
 *
 * @param low lower end; null with fewer than two tasks, or if all have the same value, as
 *     resampling then has no spread
 * @param high upper end, likewise
 */
public record TaskMean(double value, @Nullable Double low, @Nullable Double high) {
  /**
   * The mean of these values.
   *
   * @param values one for each task, at least one
   */
  public static TaskMean of(double[] values) {
    double mean = mean(values);
    double first = values[0];
    if (Arrays.stream(values).allMatch(value -> value == first)) {
      return new TaskMean(mean, null, null);
    }
    Bootstrap.Interval interval = Bootstrap.ofMean(values);
    return new TaskMean(mean, interval.low(), interval.high());
  }

  /** Plain summation keeps the order of sums; compensated summation would not. */
  static double mean(double[] values) {
    if (values.length == 0) throw new IllegalArgumentException("no tasks");
    double sum = 0;
    for (double value : values) sum += value;
    return sum / values.length;
  }
}
