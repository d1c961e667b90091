package dev.kbx.stats;

import java.util.Arrays;
import java.util.List;
import org.ejml.data.DMatrixRMaj;

/**
 * Logistic regression with a normal random intercept for each group of rows, such as the rows of a
 * task: by maximum likelihood with adaptive Gauss-Hermite quadrature, J. C. Pinheiro and D. M.
 * Bates, "Approximations to the log-likelihood function in the nonlinear mixed-effects model", JCGS
 * 4 (1995) 12–35. With one node it is Laplace's approximation.
 *
 * @param coefficients log odds, as the columns of the design
 * @param deviation standard deviation of the intercepts, on the scale of log odds
 * @param deviance −2 times the log likelihood, each trial a row of its own
 */
public record RandomIntercept(List<Double> coefficients, double deviation, double deviance) {
  /** Nodes that fix the third decimal of deviations in all known answers. */
  static final int NODES = 9;

  private static final double TOLERANCE = 1e-9;
  private static final int ITERATIONS = 300;
  private static final int HALVINGS = 30;

  /**
   * Fits the model.
   *
   * @param groups group of each row of the design, from 0
   */
  public static RandomIntercept fit(Design design, double[] passes, double[] trials, int[] groups) {
    return fit(design, passes, trials, groups, NODES);
  }

  /** As {@link #fit(Design, double[], double[], int[])}, with that many nodes. */
  static RandomIntercept fit(
      Design design, double[] passes, double[] trials, int[] groups, int nodes) {
    var likelihood = new MarginalLikelihood(design, passes, trials, groups, nodes);
    Logistic fixed = Logistic.fit(design, passes, trials);
    double[] start = Arrays.copyOf(fixed.values(), design.columns() + 1);
    start[design.columns()] = 1;
    double[] found = minimise(likelihood, start, curvature(design, fixed, trials));
    return new RandomIntercept(
        Logistic.listed(Arrays.copyOf(found, design.columns())),
        Math.abs(found[design.columns()]),
        likelihood.deviance(found));
  }

  /** Share of the variance that lies between groups, on the scale of log odds. */
  public double sharedVariance() {
    double between = deviation * deviation;
    return between / (between + Math.PI * Math.PI / 3);
  }

  /** Inverse of the second derivatives to begin with: those without a random intercept. */
  private static DMatrixRMaj curvature(Design design, Logistic fixed, double[] trials) {
    int size = design.columns();
    var information = new Logistic.Information(size);
    information.at(design, design.times(fixed.values()), trials);
    DMatrixRMaj inverse = information.inverse();
    DMatrixRMaj all = new DMatrixRMaj(size + 1, size + 1);
    double smallest = 0;
    for (int i = 0; i < size; i++) {
      for (int j = 0; j < size; j++) {
        // A coefficient without a finite estimate has no curvature; its step is limited.
        double value = Math.clamp(inverse.get(i, j) / 2, -1, 1);
        if (i != j && (inverse.get(i, i) > 2 || inverse.get(j, j) > 2)) value = 0;
        all.set(i, j, value);
      }
      smallest = i == 0 ? all.get(i, i) : Math.min(smallest, all.get(i, i));
    }
    all.set(size, size, smallest);
    return all;
  }

  /** Broyden, Fletcher, Goldfarb and Shanno's method with backtracking. */
  private static double[] minimise(
      MarginalLikelihood likelihood, double[] start, DMatrixRMaj inverse) {
    double[] at = start;
    double[] gradient = new double[at.length];
    double value = likelihood.deviance(at, gradient);
    int still = 0;
    for (int i = 0; i < ITERATIONS && still < 2; i++) {
      double[] step = times(inverse, gradient);
      double slope = -dot(step, gradient);
      if (!(slope < 0)) break;
      double part = 1;
      double[] next = at;
      double[] nextGradient = new double[at.length];
      double reached = value;
      boolean lower = false;
      for (int half = 0; half < HALVINGS && !lower; half++, part /= 2) {
        next = Logistic.plus(at, step, -part);
        reached = likelihood.deviance(next, nextGradient);
        lower = reached <= value + 1e-4 * part * slope;
      }
      if (!lower) break;
      update(inverse, difference(next, at), difference(nextGradient, gradient));
      still = value - reached < TOLERANCE * (Math.abs(reached) + 1) ? still + 1 : 0;
      at = next;
      gradient = nextGradient;
      value = reached;
    }
    return at;
  }

  private static void update(DMatrixRMaj inverse, double[] moved, double[] turned) {
    double product = dot(moved, turned);
    if (product <= 1e-14) return;
    double[] times = times(inverse, turned);
    double factor = (1 + dot(turned, times) / product) / product;
    int size = moved.length;
    for (int i = 0; i < size; i++) {
      for (int j = 0; j < size; j++) {
        double change =
            factor * moved[i] * moved[j] - (times[i] * moved[j] + moved[i] * times[j]) / product;
        inverse.add(i, j, change);
      }
    }
  }

  private static double[] times(DMatrixRMaj matrix, double[] vector) {
    double[] product = new double[vector.length];
    for (int i = 0; i < vector.length; i++) {
      for (int j = 0; j < vector.length; j++) product[i] += matrix.get(i, j) * vector[j];
    }
    return product;
  }

  private static double dot(double[] left, double[] right) {
    double sum = 0;
    for (int i = 0; i < left.length; i++) sum += left[i] * right[i];
    return sum;
  }

  private static double[] difference(double[] now, double[] then) {
    return Logistic.plus(now, then, -1);
  }
}
