package dev.kbx.stats;

import org.apache.commons.statistics.distribution.NormalDistribution;

/**
 * A share of passes with its 95 % interval.
 *
 * <p>The interval is Wilson's score interval without continuity correction: E. B. Wilson, "Probable
 * Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927) 209–212; formula as
 * method 3 of R. G. Newcombe, Statistics in Medicine 17 (1998) 857–872. Unlike the normal
 * approximation it stays within [0, 1] and has a width at 0 and 100 %, which are common in small
 * suites.
 *
 * @param passes from 0 to {@code total}
 * @param total at least 1: a rate of nothing is unknown, not zero
 */
public record Rate(long passes, long total) {
  private static final double Z = NormalDistribution.of(0, 1).inverseSurvivalProbability(0.025);

  public Rate {
    if (total < 1 || passes < 0 || passes > total) {
      throw new IllegalArgumentException("not a rate: " + passes + " of " + total);
    }
  }

  /** Between 0 and 1. */
  public double value() {
    return (double) passes / total;
  }

  /** Lower end of the 95 % interval; exactly 0 without passes. */
  public double low() {
    return interval(value(), (double) total).low();
  }

  /** Upper end of the 95 % interval; exactly 1 without failures. */
  public double high() {
    return interval(value(), (double) total).high();
  }

  /**
   * The interval of a share of so many, of which it need not be a whole number: as of tasks with
   * several samples each.
   *
   * @param share from 0 to 1
   * @param total at least 1; need not be whole, as an effective number is not
   */
  public static Bootstrap.Interval interval(double share, double total) {
    double centre = (share + Z * Z / (2 * total)) / (1 + Z * Z / total);
    double variance = share * (1 - share) / total + Z * Z / (4 * total * total);
    double halfWidth = Z * Math.sqrt(variance) / (1 + Z * Z / total);
    return new Bootstrap.Interval(
        share == 0 ? 0 : centre - halfWidth, share == 1 ? 1 : centre + halfWidth);
  }
}
