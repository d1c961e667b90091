package dev.kbx.stats;

import org.apache.commons.statistics.distribution.BetaDistribution;
import org.apache.commons.statistics.distribution.BinomialDistribution;

/**
 * Compares two methods on the same tasks, by the tasks on which only one of them succeeds: Q.
 * McNemar, "Note on the sampling error of the difference between correlated proportions or
 * percentages", Psychometrika 12 (1947) 153–157, in its exact form.
 *
 * <p>Given the number of discordant tasks, those in favour of the second are binomial, with
 * probability 1/2 if the two are equal. Several samples of one task must not count as several
 * tasks.
 *
 * @param first tasks on which only the first succeeds
 * @param second tasks on which only the second succeeds
 */
public record McNemar(int first, int second) {
  private static final double TAIL = 0.025;

  public McNemar {
    if (first < 0 || second < 0) {
      throw new IllegalArgumentException("not counts: " + first + ", " + second);
    }
  }

  /** Two-sided: twice the smaller tail, at most 1; 1 without discordant tasks. */
  public double pValue() {
    if (both() == 0) return 1;
    var equal = BinomialDistribution.of(both(), 0.5);
    return Math.min(1, 2 * equal.cumulativeProbability(Math.min(first, second)));
  }

  /**
   * Odds of success of the second over the first's, conditional on the task: {@code second ÷
   * first}. Infinite without a task for the first, NaN without discordant tasks.
   */
  public double oddsRatio() {
    return (double) second / first;
  }

  /**
   * Lower end of the odds ratio's exact 95 % interval: C. J. Clopper and E. S. Pearson's for the
   * binomial share ("The use of confidence or fiducial limits", Biometrika 26 (1934) 404–413), as
   * odds. It agrees with {@link #pValue}: M. P. Fay, "Two-sided exact tests and matching confidence
   * intervals for discrete data", The R Journal 2/1 (2010) 53–58.
   */
  public double low() {
    if (second == 0) return 0;
    return odds(BetaDistribution.of(second, first + 1.0).inverseCumulativeProbability(TAIL));
  }

  /** Upper end of the interval of {@link #low}; infinite if unbounded. */
  public double high() {
    if (first == 0) return Double.POSITIVE_INFINITY;
    return odds(BetaDistribution.of(second + 1.0, first).inverseSurvivalProbability(TAIL));
  }

  private int both() {
    return Math.addExact(first, second);
  }

  private static double odds(double share) {
    return share / (1 - share);
  }
}
