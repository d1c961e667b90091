package dev.kbx.stats;

import java.util.Arrays;
import java.util.List;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * A ratio of times, such as a speedup, with an interval: of 95 % unless said otherwise.
 *
 * <p>Ratios are averaged as logarithms: 2× and 0.5× average to 1×, and the interval of a ratio is
 * the reciprocal of the interval of its inverse. Why only the geometric mean is meaningful for
 * ratios: P. J. Fleming and J. J. Wallace, "How not to lie with statistics", CACM 29 (1986)
 * 218–221.
 *
 * @param value geometric mean
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
   * <p>The variance of the mean is the sum of the sizes' own, its degrees of freedom are Welch and
   * Satterthwaite's: F. E. Satterthwaite, "An approximate distribution of estimates of variance
   * components", Biometrics Bulletin 2 (1946) 110–114. The resolution of the clock is not noise and
   * is added to the half width.
   *
   * @param confidence as for {@link #of}
   */
  public static Ratio ofSizes(List<LogMean> sizes, double confidence) {
    if (sizes.isEmpty()) throw new IllegalArgumentException("no sizes");
    double mean = 0;
    double variance = 0;
    double perDegree = 0;
    double resolution = 0;
    for (LogMean size : sizes) {
      mean += size.mean() / sizes.size();
      variance += size.variance();
      perDegree += size.variance() * size.variance() / size.degrees();
      resolution += size.resolution() / sizes.size();
    }
    double halfWidth = halfWidth(variance, perDegree, confidence) / sizes.size() + resolution;
    return new Ratio(Math.exp(mean), Math.exp(mean - halfWidth), Math.exp(mean + halfWidth));
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
    Ratio product = new Ratio(1, 1, 1);
    for (Ratio ratio : independent) product = product.over(ratio.inverse());
    int n = independent.size();
    return new Ratio(
        Math.pow(product.value, 1.0 / n),
        Math.pow(product.low, 1.0 / n),
        Math.pow(product.high, 1.0 / n));
  }

  /** This ratio over an independent one, with an interval as in {@link #mean}. */
  public Ratio over(Ratio other) {
    double down = Math.hypot(Math.log(value / low), Math.log(other.high / other.value));
    double up = Math.hypot(Math.log(high / value), Math.log(other.value / other.low));
    double quotient = value / other.value;
    return new Ratio(quotient, quotient * Math.exp(-down), quotient * Math.exp(up));
  }

  private Ratio inverse() {
    return new Ratio(1 / value, 1 / high, 1 / low);
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
