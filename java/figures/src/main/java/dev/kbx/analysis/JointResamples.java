package dev.kbx.analysis;

import dev.kbx.stats.BinomialDeviance;
import dev.kbx.stats.Design;
import dev.kbx.stats.Logistic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Fits a joint model to resampled tasks.
 *
 * @param designs of all main effects, then without each factor
 * @param starts coefficients of the fits to all tasks, where the others begin
 */
record JointResamples(CellCounts counts, List<Design> designs, List<Logistic> starts) {
  /** Convergence of these fits, whose spread is larger by far. */
  private static final double RESAMPLE_TOLERANCE = 1e-6;

  static JointResamples of(JointFactors joint) {
    double[] passes = joint.counts().totalPasses();
    double[] trials = joint.counts().totalTrials();
    List<Design> designs = new ArrayList<>(List.of(joint.all()));
    for (int i = 0; i < joint.factors().size(); i++) designs.add(joint.without(i));
    return new JointResamples(
        joint.counts(),
        designs,
        designs.stream()
            .map(design -> Logistic.fit(design, passes, trials, RESAMPLE_TOLERANCE))
            .toList());
  }

  /**
   * D² of all main effects, then the share of each factor beyond the others; NaN if all pass or
   * none.
   *
   * @param drawn how often each task counts
   */
  double[] shares(int[] drawn) {
    double[] passes = new double[counts.cells()];
    double[] trials = new double[passes.length];
    counts.sum(drawn, passes, trials);
    double[] shares = new double[designs.size()];
    double nullDeviance = BinomialDeviance.ofAll(passes, trials);
    if (nullDeviance == 0) {
      Arrays.fill(shares, Double.NaN);
      return shares;
    }
    double full = deviance(0, passes, trials);
    shares[0] = 1 - full / nullDeviance;
    for (int i = 1; i < shares.length; i++) {
      shares[i] = (deviance(i, passes, trials) - full) / nullDeviance;
    }
    return shares;
  }

  private double deviance(int model, double[] passes, double[] trials) {
    return starts
        .get(model)
        .again(designs.get(model), passes, trials, RESAMPLE_TOLERANCE)
        .deviance();
  }
}
