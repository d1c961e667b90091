package dev.kbx.stats;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.CommonOps_DDRM;

/**
 * Logistic regression with a normal random intercept for each group of rows, such as the rows of a
 * task: by maximum likelihood with adaptive Gauss-Hermite quadrature, J. C. Pinheiro and D. M.
 * Bates, "Approximations to the log-likelihood function in the nonlinear mixed-effects model", JCGS
 * 4 (1995) 12–35. With one node it is Laplace's approximation.
 *
 * @param coefficients log odds, as the columns of the design
 * @param deviation standard deviation of the intercepts, on the scale of log odds; 0 if groups do
 *     not differ by more than chance
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
    // Rows of a group with equal predictors are one: the deviance does not change by that.
    int[] alike = alike(design, groups);
    int[] first = firsts(alike);
    return fitDistinct(
        design.select(first),
        sums(passes, alike, first.length),
        sums(trials, alike, first.length),
        IntStream.of(first).map(row -> groups[row]).toArray(),
        nodes);
  }

  /** For each row the number of its group and predictors, from 0 in order of appearance. */
  private static int[] alike(Design design, int[] groups) {
    int[] alike = new int[groups.length];
    Map<Long, Integer> numbers = new HashMap<>();
    for (int row = 0; row < alike.length; row++) {
      long pair = (long) groups[row] * design.rows() + design.kind(row);
      Integer number = numbers.putIfAbsent(pair, numbers.size());
      alike[row] = number == null ? numbers.size() - 1 : number;
    }
    return alike;
  }

  /** The first row of each number. */
  private static int[] firsts(int[] numbers) {
    int[] next = new int[1];
    return IntStream.range(0, numbers.length)
        .filter(row -> numbers[row] == next[0] && next[0]++ >= 0)
        .toArray();
  }

  private static double[] sums(double[] ofRows, int[] numbers, int count) {
    double[] sums = new double[count];
    for (int row = 0; row < numbers.length; row++) sums[numbers[row]] += ofRows[row];
    return sums;
  }

  private static RandomIntercept fitDistinct(
      Design design, double[] passes, double[] trials, int[] groups, int nodes) {
    var likelihood = new MarginalLikelihood(design, passes, trials, groups, nodes);
    Logistic fixed = Logistic.fit(design, passes, trials);
    Groups sums = new Groups(design, fixed, passes, trials, groups);
    double deviation = sums.deviation();
    double[] start = Arrays.copyOf(fixed.values(), design.columns() + 1);
    start[design.columns()] = deviation;
    double[] found = minimise(likelihood, start, sums.curvature(deviation));
    double deviance = likelihood.deviance(found);
    // Nothing is gained: groups do not differ, and the deviation is wherever the search ended.
    if (deviance > fixed.deviance() - TOLERANCE * (fixed.deviance() + 1)) {
      return new RandomIntercept(fixed.coefficients(), 0, fixed.deviance());
    }
    return new RandomIntercept(
        Logistic.listed(Arrays.copyOf(found, design.columns())),
        Math.abs(found[design.columns()]),
        deviance);
  }

  /** Share of the variance that lies between groups, on the scale of log odds. */
  public double sharedVariance() {
    double between = deviation * deviation;
    return between / (between + Math.PI * Math.PI / 3);
  }

  /** Sums over each group of a fit without random intercepts: where the fit with them begins. */
  private static final class Groups {
    /** The standard deviation begins no lower: at 0 the likelihood does not change with it. */
    private static final double LEAST = 0.1;

    /** Weights of the working response, by group. */
    private final double[] weights;

    /** Passes beyond those expected, by group. */
    private final double[] residuals;

    /** Rows of the design times their weights, by group. */
    private final double[][] rows;

    /** That of the coefficients without random intercepts. */
    private final DMatrixRMaj information;

    Groups(Design design, Logistic fixed, double[] passes, double[] trials, int[] groups) {
      int count = Arrays.stream(groups).max().orElse(-1) + 1;
      var found = new Logistic.Information(design.columns());
      double[] means = found.at(design, design.times(fixed.values()), trials);
      information = found.matrix();
      weights = new double[count];
      residuals = new double[count];
      rows = new double[count][design.columns()];
      for (int row = 0; row < means.length; row++) {
        double weight = trials[row] * means[row] * (1 - means[row]);
        weights[groups[row]] += weight;
        residuals[groups[row]] += passes[row] - trials[row] * means[row];
        design.add(row, weight, rows[groups[row]]);
      }
    }

    /** About the standard deviation, by moments: the variance of residuals beyond their own. */
    double deviation() {
      double beyond = 0;
      double all = 0;
      for (int group = 0; group < weights.length; group++) {
        double weight = weights[group];
        double square = (1 + weight) * (1 + weight);
        beyond += (residuals[group] * residuals[group] - weight) / square;
        all += weight * weight / square;
      }
      return all == 0 ? LEAST : Math.sqrt(Math.max(LEAST * LEAST, beyond / all));
    }

    /**
     * About the inverse of the second derivatives, as if the working response were normal: N. E.
     * Breslow and D. G. Clayton, "Approximate inference in generalized linear mixed models", JASA
     * 88 (1993) 9–25, section 2.
     */
    DMatrixRMaj curvature(double deviation) {
      int size = information.numRows;
      DMatrixRMaj second = new DMatrixRMaj(information);
      double variance = deviation * deviation;
      double ofDeviation = 0;
      for (int group = 0; group < weights.length; group++) {
        double known = 1 + variance * weights[group];
        double[] sums = rows[group];
        for (int i = 0; i < size; i++) {
          for (int j = 0; j < size; j++) second.add(i, j, -variance / known * sums[i] * sums[j]);
        }
        ofDeviation += 4 * variance * Math.pow(weights[group] / known, 2);
      }
      DMatrixRMaj inverse = new DMatrixRMaj(size, size);
      if (!CommonOps_DDRM.invert(second, inverse)) throw new ArithmeticException("no information");
      return limited(inverse, ofDeviation);
    }

    /** A parameter without a finite estimate has no curvature: its step is limited. */
    private static DMatrixRMaj limited(DMatrixRMaj inverse, double ofDeviation) {
      int size = inverse.numRows;
      DMatrixRMaj all = new DMatrixRMaj(size + 1, size + 1);
      for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
          double value = Math.clamp(inverse.get(i, j) / 2, -1, 1);
          if (i != j && (inverse.get(i, i) > 2 || inverse.get(j, j) > 2)) value = 0;
          all.set(i, j, value);
        }
      }
      all.set(size, size, Math.min(1, 1 / ofDeviation));
      return all;
    }
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
