package dev.kbx.stats;

import java.util.Arrays;

/**
 * The likelihood of {@link RandomIntercept}: of each group, integrated over its intercept. The last
 * parameter is the intercepts' standard deviation; its sign does not matter.
 */
final class MarginalLikelihood {
  private static final int ITERATIONS = 50;

  /** A last step of Newton's method that is no longer leaves an error of about its square. */
  private static final double CLOSE = 1e-6;

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
    Point mode = mode(rows, deviation, modes[group]);
    modes[group] = mode.u();
    double scale = 1 / Math.sqrt(-mode.curvature());
    double[] terms = new double[nodes.length];
    double[] at = new double[nodes.length];
    double[] means = new double[nodes.length * rows.length];
    for (int k = 0; k < nodes.length; k++) {
      at[k] = mode.u() + Math.sqrt(2) * scale * nodes[k];
      terms[k] = logWeights[k] + joint(rows, deviation, at[k], means, k * rows.length);
    }
    double largest = Arrays.stream(terms).max().orElseThrow();
    double sum = 0;
    double[] weights = new double[nodes.length];
    for (int k = 0; k < nodes.length; k++) {
      weights[k] = Math.exp(terms[k] - largest);
      sum += weights[k];
    }
    for (int k = 0; k < nodes.length; k++) weights[k] /= sum;
    addScore(rows, means, at, weights, gradient);
    return largest + Math.log(sum) + Math.log(scale) - Math.log(Math.PI) / 2;
  }

  /**
   * Adds the mean score over intercepts {@code at}, of these weights.
   *
   * @param means probability of passing, by intercept and row
   */
  private void addScore(
      int[] rows, double[] means, double[] at, double[] weights, double[] gradient) {
    for (int i = 0; i < rows.length; i++) {
      int row = rows[i];
      double expected = 0;
      for (int k = 0; k < at.length; k++) {
        double mean = means[k * rows.length + i];
        double residual = weights[k] * (passes[row] - trials[row] * mean);
        expected += residual;
        gradient[gradient.length - 1] += residual * at[k];
      }
      design.add(row, expected, gradient);
    }
  }

  /**
   * Log of the joint density of data and standardised intercept, without its constant.
   *
   * @param means gets the rows' probabilities of passing, from {@code first} on
   */
  private double joint(int[] rows, double deviation, double u, double[] means, int first) {
    double sum = -u * u / 2;
    for (int i = 0; i < rows.length; i++) {
      int row = rows[i];
      double odds = fixed[row] + deviation * u;
      double rarer = Math.exp(-Math.abs(odds));
      means[first + i] = (odds < 0 ? rarer : 1) / (1 + rarer);
      sum -= trials[row] * (Math.max(odds, 0) + Math.log(1 + rarer)) - passes[row] * odds;
    }
    return sum;
  }

  /** The most likely standardised intercept: the joint density is concave. */
  private Point mode(int[] rows, double deviation, double start) {
    Point here = point(rows, deviation, start);
    for (int i = 0; i < ITERATIONS; i++) {
      double step = -here.slope() / here.curvature();
      Point next = point(rows, deviation, here.u() + step);
      for (int half = 0; next.value() < here.value() && half < ITERATIONS; half++) {
        step /= 2;
        next = point(rows, deviation, here.u() + step);
      }
      here = next;
      if (Math.abs(step) < CLOSE) break;
    }
    return here;
  }

  /**
   * The joint density at a standardised intercept.
   *
   * @param value as {@link #joint}
   * @param slope its derivative by the intercept
   * @param curvature its second derivative, below 0
   */
  private record Point(double u, double value, double slope, double curvature) {}

  private Point point(int[] rows, double deviation, double u) {
    double value = -u * u / 2;
    double residuals = 0;
    double weights = 0;
    for (int row : rows) {
      double odds = fixed[row] + deviation * u;
      double rarer = Math.exp(-Math.abs(odds));
      double mean = (odds < 0 ? rarer : 1) / (1 + rarer);
      value -= trials[row] * (Math.max(odds, 0) + Math.log(1 + rarer)) - passes[row] * odds;
      residuals += passes[row] - trials[row] * mean;
      weights += trials[row] * mean * (1 - mean);
    }
    return new Point(u, value, deviation * residuals - u, -1 - deviation * deviation * weights);
  }
}
