package dev.kbx.stats;

import java.util.Arrays;

/**
 * The likelihood of {@link RandomIntercept}: of each group, integrated over its intercept. The last
 * parameter is the intercepts' standard deviation; its sign does not matter.
 */
final class MarginalLikelihood {
  private static final int ITERATIONS = 50;
  private static final double CLOSE = 1e-10;

  private final Design design;
  private final double[] passes;
  private final double[] trials;

  /** Rows of each group. */
  private final int[][] members;

  private final double[] nodes;

  /** Logarithms of weight and of exp(node²). */
  private final double[] logWeights;

  /** Predicted log odds without the intercept, by row. */
  private final double[] fixed;

  MarginalLikelihood(Design design, double[] passes, double[] trials, int[] groups, int nodes) {
    this.design = design;
    this.passes = passes;
    this.trials = trials;
    members = members(groups, trials);
    GaussHermite rule = GaussHermite.of(nodes);
    this.nodes = rule.nodes();
    logWeights = rule.weights();
    Arrays.setAll(logWeights, k -> Math.log(logWeights[k]) + this.nodes[k] * this.nodes[k]);
    fixed = new double[design.rows()];
  }

  private static int[][] members(int[] groups, double[] trials) {
    int[] sizes = new int[Arrays.stream(groups).max().orElse(-1) + 1];
    for (int row = 0; row < groups.length; row++) if (trials[row] > 0) sizes[groups[row]]++;
    int[][] members = new int[sizes.length][];
    Arrays.setAll(members, group -> new int[sizes[group]]);
    for (int row = groups.length - 1; row >= 0; row--) {
      if (trials[row] > 0) members[groups[row]][--sizes[groups[row]]] = row;
    }
    return members;
  }

  /** −2 times the log likelihood. */
  double deviance(double[] parameters) {
    return deviance(parameters, new double[parameters.length]);
  }

  /**
   * The same with its derivatives.
   *
   * @param gradient is overwritten
   */
  double deviance(double[] parameters, double[] gradient) {
    double[] beta = Arrays.copyOf(parameters, parameters.length - 1);
    double deviation = parameters[parameters.length - 1];
    Arrays.setAll(fixed, row -> design.times(row, beta));
    Arrays.fill(gradient, 0);
    double sum = 0;
    for (int[] rows : members) if (rows.length > 0) sum += ofGroup(rows, deviation, gradient);
    for (int i = 0; i < gradient.length; i++) gradient[i] *= -2;
    return -2 * sum;
  }

  /**
   * Log likelihood of a group. The derivatives are the expected ones of the intercept's
   * distribution given the data (Fisher's identity).
   */
  private double ofGroup(int[] rows, double deviation, double[] gradient) {
    double mode = mode(rows, deviation);
    double scale = 1 / Math.sqrt(-curvature(rows, deviation, mode));
    double[] terms = new double[nodes.length];
    double[] at = new double[nodes.length];
    for (int k = 0; k < nodes.length; k++) {
      at[k] = mode + Math.sqrt(2) * scale * nodes[k];
      terms[k] = logWeights[k] + joint(rows, deviation, at[k]);
    }
    double largest = Arrays.stream(terms).max().orElseThrow();
    double sum = 0;
    for (double term : terms) sum += Math.exp(term - largest);
    for (int k = 0; k < nodes.length; k++) {
      addScore(rows, deviation, at[k], Math.exp(terms[k] - largest) / sum, gradient);
    }
    return largest + Math.log(sum) + Math.log(scale) - Math.log(Math.PI) / 2;
  }

  private void addScore(int[] rows, double deviation, double u, double weight, double[] gradient) {
    for (int row : rows) {
      double mean = BinomialDeviance.probability(fixed[row] + deviation * u);
      double residual = weight * (passes[row] - trials[row] * mean);
      design.add(row, residual, gradient);
      gradient[gradient.length - 1] += residual * u;
    }
  }

  /** Log of the joint density of data and standardised intercept, without its constant. */
  private double joint(int[] rows, double deviation, double u) {
    double sum = -u * u / 2;
    for (int row : rows) {
      sum -= BinomialDeviance.at(fixed[row] + deviation * u, passes[row], trials[row]) / 2;
    }
    return sum;
  }

  /** The most likely standardised intercept: the joint density is concave. */
  private double mode(int[] rows, double deviation) {
    double u = 0;
    double reached = joint(rows, deviation, u);
    for (int i = 0; i < ITERATIONS; i++) {
      double slope = -u;
      for (int row : rows) {
        double mean = BinomialDeviance.probability(fixed[row] + deviation * u);
        slope += deviation * (passes[row] - trials[row] * mean);
      }
      double step = -slope / curvature(rows, deviation, u);
      double next = u + step;
      double value = joint(rows, deviation, next);
      for (int half = 0; value < reached && half < ITERATIONS; half++) {
        step /= 2;
        next = u + step;
        value = joint(rows, deviation, next);
      }
      u = next;
      reached = value;
      if (Math.abs(step) < CLOSE) break;
    }
    return u;
  }

  private double curvature(int[] rows, double deviation, double u) {
    double sum = -1;
    for (int row : rows) {
      double mean = BinomialDeviance.probability(fixed[row] + deviation * u);
      sum -= deviation * deviation * trials[row] * mean * (1 - mean);
    }
    return sum;
  }
}
