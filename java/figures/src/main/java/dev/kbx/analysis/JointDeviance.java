package dev.kbx.analysis;

import dev.kbx.analysis.JointFactors.Pair;
import dev.kbx.stats.BinomialDeviance;
import dev.kbx.stats.Bootstrap;
import dev.kbx.stats.Design;
import dev.kbx.stats.Logistic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What several factors explain together, and each beyond the others.
 *
 * @param df number of coefficients beside the intercept that the data can tell
 * @param explained D² of the model with all main effects
 * @param low lower end of its 95 % interval, by drawing tasks within their categories
 * @param resamples number of such draws
 * @param interaction null if no two factors have candidates in each combination of their levels
 */
public record JointDeviance(
    List<Part> factors,
    int df,
    double deviance,
    double explained,
    @Nullable Double low,
    @Nullable Double high,
    double adjusted,
    double chi2,
    double p,
    double aic,
    double bic,
    int resamples,
    @Nullable Interaction interaction) {

  /**
   * One factor in the joint model.
   *
   * @param typeTwo what the deviance rises by without it, of the model of main effects
   * @param typeThree the same of the model with the interaction, in sum coding; null without one,
   *     or for a factor that is not in the interaction
   */
  public record Part(String factor, Test typeTwo, @Nullable Test typeThree) {}

  /**
   * A likelihood-ratio test.
   *
   * @param df 0 if the factor follows from the others; then there is no p
   * @param chi2 rise of the deviance; 0 where rounding makes it fall
   * @param share of the null deviance
   * @param low lower end of the share's 95 % interval
   */
  public record Test(
      int df,
      double chi2,
      @Nullable Double p,
      double share,
      @Nullable Double low,
      @Nullable Double high) {
    static Test of(
        double chi2, int df, double nullDeviance, Bootstrap.@Nullable Interval interval) {
      double rise = Math.max(0, chi2);
      return new Test(
          df,
          rise,
          df == 0 ? null : BinomialDeviance.pValue(rise, df),
          rise / nullDeviance,
          interval == null ? null : interval.low(),
          interval == null ? null : interval.high());
    }
  }

  /** The interaction of two factors. */
  public record Interaction(String first, String second, Test test) {}

  /**
   * The joint model.
   *
   * @param intervals of the shares of {@link JointResamples}
   */
  static JointDeviance of(
      JointFactors joint, List<Bootstrap.@Nullable Interval> intervals, int resamples) {
    double[] passes = joint.counts().totalPasses();
    double[] trials = joint.counts().totalTrials();
    double rows = Arrays.stream(trials).sum();
    double nullDeviance = BinomialDeviance.ofAll(passes, trials);
    double full = Logistic.fit(joint.all(), passes, trials).deviance();
    int rank = joint.all().rank(trials);
    Pair pair = joint.pair();
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < joint.factors().size(); i++) {
      Design without = joint.without(i);
      double rise = Logistic.fit(without, passes, trials).deviance() - full;
      int df = rank - without.rank(trials);
      parts.add(
          new Part(
              joint.factors().get(i).name(),
              Test.of(rise, df, nullDeviance, intervals.get(i + 1)),
              pair == null || !pair.has(i)
                  ? null
                  : test(joint.withPair(i), joint.withPair(-1), joint, nullDeviance)));
    }
    Bootstrap.Interval whole = intervals.getFirst();
    int df = rank - 1;
    return new JointDeviance(
        parts,
        df,
        full,
        1 - full / nullDeviance,
        whole == null ? null : whole.low(),
        whole == null ? null : whole.high(),
        1 - (full + 2.0 * df) / nullDeviance,
        nullDeviance - full,
        BinomialDeviance.pValue(nullDeviance - full, df),
        full + 2.0 * rank,
        full + Math.log(rows) * rank,
        resamples,
        pair == null
            ? null
            : new Interaction(
                joint.factors().get(pair.first()).name(),
                joint.factors().get(pair.second()).name(),
                test(joint.all(), joint.withPair(-1), joint, nullDeviance)));
  }

  private static Test test(Design small, Design large, JointFactors joint, double nullDeviance) {
    double[] passes = joint.counts().totalPasses();
    double[] trials = joint.counts().totalTrials();
    double rise =
        Logistic.fit(small, passes, trials).deviance()
            - Logistic.fit(large, passes, trials).deviance();
    return Test.of(rise, large.rank(trials) - small.rank(trials), nullDeviance, null);
  }
}
