package dev.kbx.stats;

import java.util.Arrays;
import java.util.Collection;

/** Median of a sample. */
public final class Median {
  private Median() {}

  /** The middle value, or the mean of the two middle ones; of at least one value. */
  public static double of(double[] values) {
    if (values.length == 0) throw new IllegalArgumentException("no values");
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** As {@link #of(double[])}. */
  public static double of(Collection<Double> values) {
    return of(values.stream().mapToDouble(Double::doubleValue).toArray());
  }
}
