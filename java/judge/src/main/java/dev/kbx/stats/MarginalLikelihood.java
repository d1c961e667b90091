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
  private double[] fixed;

  /** The mode of each group at the last parameters: the next ones are close to them. */
  private final double[] modes;

  MarginalLikelihood(Design design, double[] passes, double[] trials, int[] groups, int nodes) {
    this.design = design;
    this.passes = passes;
    this.trials = trials;
    members = members(groups, trials);
    GaussHermite rule = GaussHermite.of(nodes);
    this.nodes = rule.nodes();
    logWeights = rule.weights();
    Arrays.setAll(logWeights, k -> Math.log(logWeights[k]) + this.nodes[k] * this.nodes[k]);
    fixed = new double[0];
    modes = new double[members.length];
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
   * The deviance with its derivatives.
   *
   * @param gradient is overwritten
   */
  double deviance(double[] parameters, double[] gradient) {
    double[] beta = Arrays.copyOf(parameters, parameters.length - 1);
    double deviation = parameters[parameters.length - 1];
    fixed = design.times(beta);
    Arrays.fill(gradient, 0);
    double sum = 0;
    for (int group = 0; group < members.length; group++) {
      if (members[group].length > 0) sum += ofGroup(group, deviation, gradient);
    }
    for (int i = 0; i < gradient.length; i++) gradient[i] *= -2;
    return -2 * sum;
  }

  /**
   * Log likelihood of a group. The derivatives are the expected ones of the intercept's
   * distribution given the data (Fisher's identity).
   */
  private double ofGroup(int group, double deviation, double[] gradient) {
    int[] rows = members[group];
    double mode = mode(rows, deviation, modes[group]);
    modes[group] = mode;
    double scale = 1 / Math.sqrt(-derivatives(rows, deviation, mode).curvature());
    double[] terms = new double[nodes.length];
    double[] at = new double[nodes.length];
    for (int k = 0; k < nodes.length; k++) {
      at[k] = mode + Math.sqrt(2) * scale * nodes[k];
      terms[k] = logWeights[k] + joint(rows, deviation, at[k]);
    }
    double largest = Arrays.stream(terms).max().orElseThrow();
    double sum = 0;
    double[] weights = new double[nodes.length];
    for (int k = 0; k < nodes.length; k++) {
      weights[k] = Math.exp(terms[k] - largest);
      sum += weights[k];
    }
    for (int k = 0; k < nodes.length; k++) weights[k] /= sum;
    addScore(rows, deviation, at, weights, gradient);
    return largest + Math.log(sum) + Math.log(scale) - Math.log(Math.PI) / 2;
  }

  /** Adds the mean score over intercepts {@code at}, of these weights. */
  private void addScore(
      int[] rows, double deviation, double[] at, double[] weights, double[] gradient) {
    for (int row : rows) {
      double expected = 0;
      for (int k = 0; k < at.length; k++) {
        double mean = BinomialDeviance.probability(fixed[row] + deviation * at[k]);
        double residual = weights[k] * (passes[row] - trials[row] * mean);
        expected += residual;
        gradient[gradient.length - 1] += residual * at[k];
      }
      design.add(row, expected, gradient);
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
  private double mode(int[] rows, double deviation, double start) {
    double u = start;
    double reached = joint(rows, deviation, u);
    for (int i = 0; i < ITERATIONS; i++) {
      Derivatives here = derivatives(rows, deviation, u);
      double step = -here.slope() / here.curvature();
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

  /** The derivatives of {@link #joint} by the intercept: the first and the second. */
  private record Derivatives(double slope, double curvature) {}

  private Derivatives derivatives(int[] rows, double deviation, double u) {
    double slope = -u;
    double curvature = -1;
    for (int row : rows) {
      double mean = BinomialDeviance.probability(fixed[row] + deviation * u);
      slope += deviation * (passes[row] - trials[row] * mean);
      curvature -= deviation * deviation * trials[row] * mean * (1 - mean);
    }
    return new Derivatives(slope, curvature);
  }
}
