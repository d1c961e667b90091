package dev.kbx.stats;

import java.util.Arrays;
import java.util.stream.DoubleStream;

/**
 * The share of cases that exceed a threshold, as a function of the threshold: for speedups of
 * correct kernels over all tasks, the fast_p of A. Ouyang et al., "KernelBench: Can LLMs Write
 * Efficient GPU Kernels?" (2025), section 3.3.
 */
public final class Exceedance {
  private final double[] sorted;
  private final long total;

  /**
   * The share that exceeds a threshold, out of {@code total} cases.
   *
   * @param values positive values of the cases that have one; the others never exceed
   * @param total at least 1, and at least as many as there are values
   */
  public Exceedance(double[] values, long total) {
    if (total < 1 || values.length > total) {
      throw new IllegalArgumentException(values.length + " values of " + total + " cases");
    }
    if (!Arrays.stream(values).allMatch(v -> v > 0 && Double.isFinite(v))) {
      throw new IllegalArgumentException("values must be positive and finite");
    }
    this.sorted = values.clone();
    Arrays.sort(sorted);
    this.total = total;
  }

  /** The cases that exceed the threshold, not just reach it. */
  public Rate above(double threshold) {
    return new Rate(Arrays.stream(sorted).filter(v -> v > threshold).count(), total);
  }

  /**
   * Ascending thresholds at which {@link #above} changes, from 0; it is constant from one to the
   * next.
   */
  public double[] steps() {
    return DoubleStream.concat(DoubleStream.of(0), Arrays.stream(sorted).distinct()).toArray();
  }
}
