package dev.kbx.stats;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Percentile bootstrap: B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993),
 * section 13.3. For statistics over tasks, where nothing is known of the distribution.
 */
public final class Bootstrap {
  /** Resamples drawn; the book's advice for 95 % percentile intervals is a thousand or more. */
  static final int RESAMPLES = 2_000;

  /** Fixed, so that a summary computed twice from the same verdicts is the same. */
  static final long SEED = 20_261_121;

  private Bootstrap() {}

  /** A 95 % interval. */
  public record Interval(double low, double high) {}

  /** The 95 % interval of the mean over samples like {@code sample}, of at least two values. */
  static Interval ofMean(double[] sample) {
    if (sample.length < 2) throw new IllegalArgumentException("a bootstrap needs two values");
    var random = new SplittableRandom(SEED);
    double[] values = new double[RESAMPLES];
    for (int i = 0; i < RESAMPLES; i++) {
      double sum = 0;
      for (int n = 0; n < sample.length; n++) sum += sample[below(sample.length, random)];
      values[i] = sum / sample.length;
    }
    return interval(values);
  }

  /**
   * The 95 % interval of a ratio of sums over samples like this one, as of the candidates of all
   * tasks that pass over those that could.
   *
   * @param parts one of each task
   * @param wholes likewise, each above 0; at least two
   */
  public static Interval ofRatio(double[] parts, double[] wholes) {
    if (wholes.length < 2) throw new IllegalArgumentException("a bootstrap needs two values");
    var random = new SplittableRandom(SEED);
    double[] values = new double[RESAMPLES];
    for (int i = 0; i < RESAMPLES; i++) {
      double part = 0;
      double whole = 0;
      for (int n = 0; n < wholes.length; n++) {
        int task = below(wholes.length, random);
        part += parts[task];
        whole += wholes[task];
      }
      values[i] = part / whole;
    }
    return interval(values);
  }

  /**
   * A number from 0 to below {@code bound}, by multiplication (D. Lemire, "Fast random integer
   * generation in an interval", ACM TOMACS 29 (2019) 3) without its rejections: no number is more
   * likely than another by more than {@code bound} / 2^32.
   */
  static int below(int bound, SplittableRandom random) {
    return (int) (((random.nextInt() & 0xFFFF_FFFFL) * bound) >>> 32);
  }

  /** From so many values of a statistic as there are resamples, which it sorts. */
  static Interval interval(double[] values) {
    Arrays.sort(values);
    int tail = RESAMPLES / 40;
    return new Interval(values[tail - 1], values[RESAMPLES - tail]);
  }
}
