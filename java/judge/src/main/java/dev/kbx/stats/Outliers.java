package dev.kbx.stats;

import java.util.Arrays;

/**
 * Finds outliers of a sample: the Hampel identifier, which tolerates up to half of the values being
 * outliers. L. Davies and U. Gather, "The identification of multiple outliers", JASA 88 (1993)
 * 782–792, after F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69
 * (1974) 383–393.
 */
public final class Outliers {
  /** Converts the median distance from the median to a standard deviation, for normal values. */
  private static final double NORMAL = 1.4826;

  private Outliers() {}

  /**
   * Which values are outliers.
   *
   * @param deviations standard deviations, estimated from the median distance to the median, beyond
   *     which a value is one
   * @param least distance from the median below which no value is one, however small the deviation
   */
  public static boolean[] in(double[] values, double deviations, double least) {
    double middle = Median.of(values);
    double[] distances = Arrays.stream(values).map(v -> Math.abs(v - middle)).toArray();
    double limit = Math.max(deviations * NORMAL * Median.of(distances), least);
    boolean[] outlying = new boolean[values.length];
    for (int i = 0; i < values.length; i++) outlying[i] = distances[i] > limit;
    return outlying;
  }
}
