package dev.kbx.stats;

import java.util.List;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.CommonOps_DDRM;

/**
 * Logistic regression by Firth's penalised likelihood, whose estimates are finite also where levels
 * pass or fail without exception: D. Firth, "Bias reduction of maximum likelihood estimates",
 * Biometrika 80 (1993) 27–38; G. Heinze and M. Schemper, "A solution to the problem of separation
 * in logistic regression", Statistics in Medicine 21 (2002) 2409–2419.
 *
 * @param coefficients log odds, as the columns of the design
 * @param deviance without the penalty, at these coefficients
 * @param penalised log likelihood with half the logarithm of the information's determinant added
 */
public record Firth(List<Double> coefficients, double deviance, double penalised) {
  private static final double TOLERANCE = 1e-11;
  private static final int ITERATIONS = 200;
  private static final int HALVINGS = 20;

  /** Longest step of a coefficient. */
  private static final double LONGEST = 3;

  /** Fits all coefficients; the design has full rank over the rows with trials. */
  public static Firth fit(Design design, double[] passes, double[] trials) {
    return fit(design, passes, trials, design.columns());
  }

  /**
   * Fits the first coefficients and holds the others at 0, with the penalty of the whole design, as
   * the penalised likelihood-ratio test of Heinze and Schemper needs it.
   *
   * @param free number of coefficients to fit
   */
  public static Firth fit(Design design, double[] passes, double[] trials, int free) {
    double[] beta = new double[design.columns()];
    var information = new Logistic.Information(design.columns());
    double reached = penalised(design, beta, passes, trials, information);
    for (int i = 0; i < ITERATIONS; i++) {
      double[] step = step(design, beta, passes, trials, information, free);
      double before = reached;
      double part = 1;
      double[] next = beta;
      for (int half = 0; half < HALVINGS; half++, part /= 2) {
        next = Logistic.plus(beta, step, part);
        reached = penalised(design, next, passes, trials, information);
        if (reached >= before) break;
      }
      if (!(reached >= before)) {
        reached = penalised(design, beta, passes, trials, information);
        break;
      }
      beta = next;
      if (reached - before < TOLERANCE * (Math.abs(reached) + 0.1)) break;
    }
    return new Firth(
        Logistic.listed(beta), Logistic.deviance(design.times(beta), passes, trials), reached);
  }

  private static double penalised(
      Design design,
      double[] beta,
      double[] passes,
      double[] trials,
      Logistic.Information information) {
    double[] odds = design.times(beta);
    information.at(design, odds, trials);
    double determinant = CommonOps_DDRM.det(information.matrix());
    return -Logistic.deviance(odds, passes, trials) / 2 + Math.log(determinant) / 2;
  }

  /** A scoring step with the modified score; the information is set at {@code beta}. */
  private static double[] step(
      Design design,
      double[] beta,
      double[] passes,
      double[] trials,
      Logistic.Information information,
      int free) {
    DMatrixRMaj inverse = information.inverse();
    double[] odds = design.times(beta);
    double[] score = new double[design.columns()];
    for (int row = 0; row < design.rows(); row++) {
      if (trials[row] == 0) continue;
      double mean = BinomialDeviance.probability(odds[row]);
      double leverage = trials[row] * mean * (1 - mean) * design.square(row, inverse);
      design.add(row, passes[row] - trials[row] * mean + leverage * (0.5 - mean), score);
    }
    DMatrixRMaj block = new DMatrixRMaj(free, free);
    CommonOps_DDRM.extract(information.matrix(), 0, free, 0, free, block, 0, 0);
    DMatrixRMaj right = new DMatrixRMaj(free, 1);
    System.arraycopy(score, 0, right.data, 0, free);
    DMatrixRMaj solution = new DMatrixRMaj(free, 1);
    if (!CommonOps_DDRM.solve(block, right, solution)) {
      throw new ArithmeticException("no information");
    }
    double[] step = new double[design.columns()];
    for (int i = 0; i < free; i++) {
      step[i] = Math.clamp(solution.data[i], -LONGEST, LONGEST);
    }
    return step;
  }
}
