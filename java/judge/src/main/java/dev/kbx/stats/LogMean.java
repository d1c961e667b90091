package dev.kbx.stats;

import java.util.Arrays;

/**
 * The mean of the logarithms of a ratio, with its uncertainty.
 *
 * @param mean estimate of log(t_reference / t_candidate)
 * @param variance of that estimate
 * @param degrees degrees of freedom of the variance
 * @param resolution error of the estimate that repetition cannot reduce, in the same unit: the
 *     resolution of the clock
 */
public record LogMean(double mean, double variance, double degrees, double resolution) {
  /** Degrees of freedom of a variance that is known. */
  private static final double CERTAIN = 1e9;

  public LogMean {
    if (!Double.isFinite(mean) || !(variance >= 0) || !(degrees > 0) || !(resolution >= 0)) {
      throw new IllegalArgumentException("not an estimate: %s ± √%s".formatted(mean, variance));
    }
  }

  /**
   * Mean of one sample, as in Student, "The probable error of a mean", Biometrika 6 (1908) 1–25.
   *
   * @param logRatios at least two, finite
   */
  public static LogMean of(double[] logRatios) {
    if (logRatios.length < 2) throw new IllegalArgumentException("an interval needs two rounds");
    int degrees = logRatios.length - 1;
    double variance = squares(logRatios) / degrees / logRatios.length;
    return new LogMean(mean(logRatios), variance, degrees, 0);
  }

  /**
   * Mean of rounds in which the two sides alternately went first, so that the cost of going second
   * cancels: the midpoint of the means of the two orders, with their pooled variance. This is the
   * analysis of the two-period crossover trial: M. Hills and P. Armitage, "The two-period
   * cross-over clinical trial", British Journal of Clinical Pharmacology 8 (1979) 7–20.
   *
   * <p>Averaging pairs of rounds also cancels it, but leaves half the degrees of freedom.
   *
   * @param oneFirst log ratios of the rounds in one order, at least one
   * @param otherFirst those in the other order, at least one; three in all
   */
  public static LogMean ofCrossover(double[] oneFirst, double[] otherFirst) {
    int degrees = oneFirst.length + otherFirst.length - 2;
    if (oneFirst.length < 1 || otherFirst.length < 1 || degrees < 1) {
      throw new IllegalArgumentException("a crossover needs both orders and three rounds");
    }
    double variance = (squares(oneFirst) + squares(otherFirst)) / degrees;
    return new LogMean(
        (mean(oneFirst) + mean(otherFirst)) / 2,
        variance / 4 * (1.0 / oneFirst.length + 1.0 / otherFirst.length),
        degrees,
        0);
  }

  /** This mean, measured with a clock of that resolution. */
  public LogMean withResolution(double logUnits) {
    return new LogMean(mean, variance, degrees, logUnits);
  }

  /**
   * This mean, including scatter between measurements that longer measuring does not reduce, with a
   * known standard deviation: variances add, degrees of freedom are Satterthwaite's, see {@link
   * Ratio#ofSizes}. Repeating within one process does not show it: T. Kalibera and R. Jones,
   * "Rigorous benchmarking in reasonable time", ISMM 2013, 63–74.
   */
  public LogMean withScatter(double deviation) {
    double sum = variance + deviation * deviation;
    double known =
        variance == 0 ? CERTAIN : Math.min(CERTAIN, degrees * Math.pow(sum / variance, 2));
    return new LogMean(mean, sum, known, resolution);
  }

  /** The prediction of one further round after {@code count} rounds, not of their mean. */
  public LogMean ofOneMore(int count) {
    return new LogMean(mean, variance * (1 + count), degrees, resolution);
  }

  private static double mean(double[] values) {
    return Arrays.stream(values).average().orElseThrow();
  }

  private static double squares(double[] values) {
    double mean = mean(values);
    return Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
  }
}
