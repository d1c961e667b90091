package dev.kbx.stats;

import org.apache.commons.statistics.distribution.ChiSquaredDistribution;

/**
 * Deviance of single trials: −2 times the log likelihood of passes and failures, each trial a row
 * of its own. Grouping rows with equal predictors changes neither it nor its differences. P.
 * McCullagh and J. A. Nelder, "Generalized Linear Models", 2nd edition (1989), section 4.4.
 */
public final class BinomialDeviance {
  private BinomialDeviance() {}

  /** The deviance of one group at its own rate: 0 where all pass or none. */
  public static double of(double passes, double trials) {
    return -2 * (term(passes, trials) + term(trials - passes, trials));
  }

  /** The deviance of groups, each at its own rate: the deviance of the model with one factor. */
  public static double ofGroups(double[] passes, double[] trials) {
    double sum = 0;
    for (int i = 0; i < passes.length; i++) sum += of(passes[i], trials[i]);
    return sum;
  }

  /** The deviance of groups at their common rate: the null deviance. */
  public static double ofAll(double[] passes, double[] trials) {
    double pass = 0;
    double all = 0;
    for (int i = 0; i < passes.length; i++) {
      pass += passes[i];
      all += trials[i];
    }
    return of(pass, all);
  }

  /**
   * The likelihood-ratio test: probability of a difference of deviances this large if the larger
   * model is not better.
   *
   * @param degrees of freedom, at least 1
   */
  public static double pValue(double difference, int degrees) {
    return ChiSquaredDistribution.of(degrees).survivalProbability(Math.max(0, difference));
  }

  /** The deviance of trials with these passes at a predicted log odds. */
  static double at(double logOdds, double passes, double trials) {
    return 2 * (trials * softPlus(logOdds) - passes * logOdds);
  }

  /**
   * log(1 + exp(x)) without overflow, to 1.2e-16 beside a sum of such. {@code log1p} would be exact
   * also relative to itself, and is not compiled to processor instructions.
   */
  static double softPlus(double x) {
    return Math.max(x, 0) + Math.log(1 + Math.exp(-Math.abs(x)));
  }

  /** The probability of a log odds. */
  static double probability(double logOdds) {
    return 1 / (1 + Math.exp(-logOdds));
  }

  private static double term(double part, double whole) {
    return part <= 0 ? 0 : part * Math.log(part / whole);
  }
}
