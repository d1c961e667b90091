package dev.kbx.stats;

import java.util.Arrays;
import java.util.List;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.factory.LinearSolverFactory_DDRM;
import org.ejml.interfaces.linsol.LinearSolverDense;

/**
 * Logistic regression by maximum likelihood: iteratively reweighted least squares, P. McCullagh and
 * J. A. Nelder, "Generalized Linear Models", 2nd edition (1989), section 2.5.
 *
 * <p>Where levels pass or fail without exception, coefficients have no finite estimate; the
 * deviance still converges, and they are where it did. The same holds for coefficients that the
 * data cannot tell apart.
 *
 * @param coefficients log odds, as the columns of the design
 * @param deviance as {@link BinomialDeviance}
 */
public record Logistic(List<Double> coefficients, double deviance) {
  /** Relative change of the deviance at which it has converged. */
  private static final double TOLERANCE = 1e-10;

  private static final int ITERATIONS = 60;
  private static final int HALVINGS = 12;

  /**
   * Part of the mean of the diagonal that is added to the information matrix, so that it is
   * invertible. The estimate is where the score is 0, which this does not move.
   */
  private static final double RIDGE = 1e-10;

  /**
   * Fits the model.
   *
   * @param passes by row of the design
   * @param trials by row; 0 leaves the row out
   */
  public static Logistic fit(Design design, double[] passes, double[] trials) {
    return fit(design, passes, trials, TOLERANCE);
  }

  /**
   * As {@link #fit(Design, double[], double[])}.
   *
   * @param tolerance relative change of the deviance at which it has converged; larger is faster
   */
  public static Logistic fit(Design design, double[] passes, double[] trials, double tolerance) {
    double[] start = new double[design.columns()];
    start[0] = start(passes, trials);
    return fit(design, passes, trials, tolerance, start);
  }

  /** Fits the same model to other counts, which is faster than from nothing. */
  public Logistic again(Design design, double[] passes, double[] trials, double tolerance) {
    return fit(design, passes, trials, tolerance, values());
  }

  /** Rows with equal predictors are one: the deviance does not change by that. */
  private static Logistic fit(
      Design design, double[] passes, double[] trials, double tolerance, double[] start) {
    return fitDistinct(
        design.distinct(), design.sums(passes), design.sums(trials), tolerance, start);
  }

  private static Logistic fitDistinct(
      Design design, double[] passes, double[] trials, double tolerance, double[] start) {
    double[] beta = start;
    double[] odds = design.times(beta);
    double deviance = deviance(odds, passes, trials);
    Information information = new Information(design.columns());
    for (int i = 0; i < ITERATIONS && deviance > 0; i++) {
      double[] step = information.step(design, odds, passes, trials);
      double[] next = beta;
      double reached = deviance;
      double part = 1;
      for (int half = 0; half < HALVINGS; half++, part /= 2) {
        next = plus(beta, step, part);
        odds = design.times(next);
        reached = deviance(odds, passes, trials);
        if (reached <= deviance) break;
      }
      if (!(reached <= deviance)) break;
      double gained = deviance - reached;
      beta = next;
      deviance = reached;
      if (gained <= tolerance * (deviance + 0.1)) break;
    }
    return new Logistic(listed(beta), deviance);
  }

  private static double start(double[] passes, double[] trials) {
    double pass = 0;
    double all = 0;
    for (int i = 0; i < passes.length; i++) {
      pass += passes[i];
      all += trials[i];
    }
    return Math.log((pass + 0.5) / (all - pass + 0.5));
  }

  /** Deviance of rows at their log odds. */
  static double deviance(double[] odds, double[] passes, double[] trials) {
    double sum = 0;
    for (int row = 0; row < odds.length; row++) {
      if (trials[row] == 0) continue;
      sum += BinomialDeviance.at(odds[row], passes[row], trials[row]);
    }
    return sum;
  }

  static List<Double> listed(double[] values) {
    return Arrays.stream(values).boxed().toList();
  }

  /** The coefficients, as an array. */
  double[] values() {
    return coefficients.stream().mapToDouble(Double::doubleValue).toArray();
  }

  static double[] plus(double[] beta, double[] step, double part) {
    double[] sum = beta.clone();
    for (int i = 0; i < sum.length; i++) sum[i] += part * step[i];
    return sum;
  }

  /** Fisher's information at some coefficients, and steps with it; reuses its memory. */
  static final class Information {
    private final int size;
    private final DMatrixRMaj matrix;
    private final DMatrixRMaj score;
    private final DMatrixRMaj solution;
    private final LinearSolverDense<DMatrixRMaj> solver;

    Information(int size) {
      this.size = size;
      matrix = new DMatrixRMaj(size, size);
      score = new DMatrixRMaj(size, 1);
      solution = new DMatrixRMaj(size, 1);
      solver = LinearSolverFactory_DDRM.symmPosDef(size);
    }

    private double[] step(Design design, double[] odds, double[] passes, double[] trials) {
      double[] means = at(design, odds, trials);
      score.zero();
      for (int row = 0; row < odds.length; row++) {
        if (trials[row] == 0) continue;
        design.add(row, passes[row] - trials[row] * means[row], score.data);
      }
      return solve(score);
    }

    /** Sets the information at these log odds of the rows, and returns their probabilities. */
    double[] at(Design design, double[] odds, double[] trials) {
      double[] means = new double[odds.length];
      double[] weights = new double[odds.length];
      for (int row = 0; row < odds.length; row++) {
        means[row] = BinomialDeviance.probability(odds[row]);
        weights[row] = trials[row] * means[row] * (1 - means[row]);
      }
      design.squares(weights, matrix);
      double trace = 0;
      for (int i = 0; i < size; i++) trace += matrix.get(i, i);
      for (int i = 0; i < size; i++) matrix.add(i, i, RIDGE * trace / size + Double.MIN_NORMAL);
      if (!solver.setA(matrix.copy())) throw new ArithmeticException("no information");
      return means;
    }

    /** The inverse of the information, times a vector. */
    double[] solve(DMatrixRMaj right) {
      solver.solve(right, solution);
      return solution.data.clone();
    }

    DMatrixRMaj inverse() {
      DMatrixRMaj inverse = new DMatrixRMaj(size, size);
      solver.invert(inverse);
      return inverse;
    }

    DMatrixRMaj matrix() {
      return matrix;
    }
  }
}
