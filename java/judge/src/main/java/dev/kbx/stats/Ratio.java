package dev.kbx.stats;

import java.util.Arrays;
import java.util.List;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * A ratio of times, such as a speedup, with an interval: of 95 % unless said otherwise.
 *
 * <p>Ratios are averaged as logarithms: 2× and 0.5× average to 1×, and the interval of a ratio is
 * the reciprocal of the interval of its inverse. Why only the geometric mean is meaningful for
 * ratios of unrelated times: P. J. Fleming and J. J. Wallace, "How not to lie with statistics",
 * CACM 29 (1986) 218–221. Times that add up, as shares of one workload do, have a total.
 *
 * @param value the mean
 * @param low lower end of the interval
 * @param high upper end of the interval
 */
public record Ratio(double value, double low, double high) {

  /**
   * The ratio of one size, from the mean of its rounds.
   *
   * @param confidence of the interval, 0 to 1; 0.95 unless the number of rounds depended on their
   *     results
   */
  public static Ratio of(LogMean rounds, double confidence) {
    return ofSizes(List.of(rounds), confidence);
  }

  /**
   * Geometric mean over all sizes of one task, with equal weights, whatever the number of rounds.
   *
   * @param confidence as for {@link #of}
   */
  public static Ratio ofSizes(List<LogMean> sizes, double confidence) {
    double mean = sizes.stream().mapToDouble(LogMean::mean).average().orElse(0);
    return combined(sizes, mean, equalParts(sizes.size()), confidence);
  }

  /**
   * The speedup of the total time of all sizes, 1 ÷ Σ (share ÷ speedup): the weighted harmonic
   * mean.
   *
   * <p>A small change of a size's logarithm changes that of the total by the size's part of the
   * candidate's time, so the interval is that of a sum with these coefficients: G. W. Oehlert, "A
   * note on the delta method", The American Statistician 46 (1992) 27–29.
   *
   * @param shares of the reference's time, which add up to 1
   * @param confidence as for {@link #of}
   */
  public static Ratio ofTotal(List<LogMean> sizes, List<Double> shares, double confidence) {
    double[] speedups = sizes.stream().mapToDouble(size -> Math.exp(size.mean())).toArray();
    double[] times = times(speedups, shares);
    double total = Arrays.stream(times).sum();
    return combined(sizes, -Math.log(total), parts(times, total), confidence);
  }

  /**
   * A combination of sizes whose logarithm changes by {@code parts} of those of the sizes.
   *
   * <p>Its variance is the sum of the sizes' own, its degrees of freedom are Welch and
   * Satterthwaite's: F. E. Satterthwaite, "An approximate distribution of estimates of variance
   * components", Biometrics Bulletin 2 (1946) 110–114. The resolution of the clock is not noise and
   * is added to the half width.
   */
  private static Ratio combined(
      List<LogMean> sizes, double mean, double[] parts, double confidence) {
    if (sizes.isEmpty()) throw new IllegalArgumentException("no sizes");
    double variance = 0;
    double perDegree = 0;
    double resolution = 0;
    for (int i = 0; i < parts.length; i++) {
      LogMean size = sizes.get(i);
      double part = parts[i] * parts[i] * size.variance();
      variance += part;
      perDegree += part * part / size.degrees();
      resolution += parts[i] * size.resolution();
    }
    double halfWidth = halfWidth(variance, perDegree, confidence) + resolution;
    return new Ratio(Math.exp(mean), Math.exp(mean - halfWidth), Math.exp(mean + halfWidth));
  }

  /** What sizes take of the reference's total time once they are {@code speedups} as fast. */
  private static double[] times(double[] speedups, List<Double> shares) {
    if (shares.size() != speedups.length) {
      throw new IllegalArgumentException(
          "%d sizes have %d shares".formatted(speedups.length, shares.size()));
    }
    double[] times = new double[speedups.length];
    Arrays.setAll(times, i -> shares.get(i) / speedups[i]);
    return times;
  }

  private static double[] parts(double[] times, double total) {
    return Arrays.stream(times).map(time -> time / total).toArray();
  }

  private static double[] equalParts(int count) {
    double[] parts = new double[count];
    Arrays.fill(parts, 1.0 / count);
    return parts;
  }

  /**
   * Geometric mean over tasks with the percentile bootstrap interval over tasks.
   *
   * @param speedups one a task, positive, at least two
   */
  public static Ratio ofTasks(double[] speedups) {
    double mean = geometricMean(speedups);
    var interval = Bootstrap.ofMean(Arrays.stream(speedups).map(Math::log).toArray());
    return new Ratio(mean, Math.exp(interval.low()), Math.exp(interval.high()));
  }

  /**
   * Geometric mean of independent ratios.
   *
   * <p>Its interval is computed from their intervals, by whatever method these were made: G. Y. Zou
   * and A. Donner, "Construction of confidence limits about effect measures: a general approach",
   * Statistics in Medicine 27 (2008) 1693–1702. Squares of the distances, as logarithms, from value
   * to end add.
   */
  public static Ratio mean(List<Ratio> independent) {
    if (independent.isEmpty()) throw new IllegalArgumentException("no ratios");
    double mean = geometricMean(independent.stream().mapToDouble(Ratio::value).toArray());
    return combined(independent, mean, equalParts(independent.size()));
  }

  /**
   * The ratio of the total time of independent ones, as {@link #ofTotal}, with an interval as in
   * {@link #mean}.
   *
   * @param shares of the time above the line, which add up to 1
   */
  public static Ratio total(List<Ratio> independent, List<Double> shares) {
    double[] times = times(independent.stream().mapToDouble(Ratio::value).toArray(), shares);
    double total = Arrays.stream(times).sum();
    return combined(independent, 1 / total, parts(times, total));
  }

  private static Ratio combined(List<Ratio> independent, double value, double[] parts) {
    double down = 0;
    double up = 0;
    for (int i = 0; i < parts.length; i++) {
      Ratio each = independent.get(i);
      down = Math.hypot(down, parts[i] * Math.log(each.value / each.low));
      up = Math.hypot(up, parts[i] * Math.log(each.high / each.value));
    }
    return new Ratio(value, value * Math.exp(-down), value * Math.exp(up));
  }

  /** This ratio over an independent one, with an interval as in {@link #mean}. */
  public Ratio over(Ratio other) {
    double down = Math.hypot(Math.log(value / low), Math.log(other.high / other.value));
    double up = Math.hypot(Math.log(high / value), Math.log(other.value / other.low));
    double quotient = value / other.value;
    return new Ratio(quotient, quotient * Math.exp(-down), quotient * Math.exp(up));
  }

  /** Whether the interval contains a ratio. */
  public boolean covers(double ratio) {
    return low <= ratio && ratio <= high;
  }

  /** The n-th root of the product of {@code n} positive values. */
  public static double geometricMean(double[] values) {
    if (!Arrays.stream(values).allMatch(v -> v > 0 && Double.isFinite(v))) {
      throw new IllegalArgumentException("a geometric mean needs positive, finite values");
    }
    return Math.exp(Arrays.stream(values).map(Math::log).average().orElseThrow());
  }

  /**
   * Half the width of the interval of a sum; 0 without variance, for which there is no t quantile.
   */
  private static double halfWidth(double variance, double perDegree, double confidence) {
    if (variance == 0) return 0;
    double degrees = variance * variance / perDegree;
    double tail = (1 - confidence) / 2;
    return TDistribution.of(degrees).inverseSurvivalProbability(tail) * Math.sqrt(variance);
  }
}
