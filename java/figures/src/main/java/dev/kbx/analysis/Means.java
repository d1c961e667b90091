package dev.kbx.analysis;

import dev.kbx.stats.Median;
import dev.kbx.stats.Ratio;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Each kind of mean of some speedups, as published figures often do not say which theirs is. Only
 * the geometric mean is one of ratios: see {@link Ratio}.
 *
 * @param candidates number of speedups
 */
public record Means(int candidates, double geometric, double arithmetic, double median) {

  /** Null without speedups. */
  static @Nullable Means of(List<Double> speedups) {
    if (speedups.isEmpty()) return null;
    double[] values = speedups.stream().mapToDouble(Double::doubleValue).toArray();
    return new Means(
        values.length,
        Ratio.geometricMean(values),
        Arrays.stream(values).average().orElseThrow(),
        Median.of(values));
  }
}
