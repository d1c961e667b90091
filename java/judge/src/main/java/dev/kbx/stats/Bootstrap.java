package dev.kbx.stats;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/**
 * Percentile bootstrap: B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993),
 * section 13.3. For statistics over tasks, where nothing is known of the distribution.
 */
public final class Bootstrap {
  /** Resamples drawn; the book's advice for 95 % percentile intervals is a thousand or more. */
  static final int RESAMPLES = 2_000;

  /** Fixed, so that a summary computed twice from the same verdicts is the same. */
  static final long SEED = 20_261_121;

  /** At most so many values have resamples that are kept: 2 MB. */
  private static final int LARGEST_KEPT = 256;

  private static final int KEPT = 16;

  /**
   * Resamples, as indices, by the number of values, those used last. They are equal for all samples
   * of a size, and drawing them takes most of the time.
   */
  private static final Map<Integer, int[][]> DRAWN =
      Collections.synchronizedMap(
          new LinkedHashMap<>(KEPT, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, int[][]> eldest) {
              return size() > KEPT;
            }
          });

  private Bootstrap() {}

  /** A 95 % interval. */
  public record Interval(double low, double high) {}

  /** The 95 % interval of the mean over samples like {@code sample}, of at least two values. */
  static Interval ofMean(double[] sample) {
    return of(
        sample.length,
        drawn -> {
          double sum = 0;
          for (int one : drawn) sum += sample[one];
          return sum / drawn.length;
        });
  }

  /**
   * The 95 % interval of a ratio of sums over samples like this one, as of the candidates of all
   * tasks that pass over those that could.
   *
   * @param parts one of each task
   * @param wholes likewise, each above 0; at least two
   */
  public static Interval ofRatio(double[] parts, double[] wholes) {
    return of(
        wholes.length,
        drawn -> {
          double part = 0;
          double whole = 0;
          for (int task : drawn) {
            part += parts[task];
            whole += wholes[task];
          }
          return part / whole;
        });
  }

  private static Interval of(int size, ToDoubleFunction<int[]> statistic) {
    if (size < 2) throw new IllegalArgumentException("a bootstrap needs two values");
    double[] values = new double[RESAMPLES];
    if (size <= LARGEST_KEPT) {
      int[][] all = DRAWN.computeIfAbsent(size, Bootstrap::resamples);
      for (int i = 0; i < RESAMPLES; i++) values[i] = statistic.applyAsDouble(all[i]);
    } else {
      var random = new SplittableRandom(SEED);
      int[] drawn = new int[size];
      for (int i = 0; i < RESAMPLES; i++) {
        draw(drawn, random);
        values[i] = statistic.applyAsDouble(drawn);
      }
    }
    return interval(values);
  }

  private static int[][] resamples(int size) {
    var random = new SplittableRandom(SEED);
    int[][] all = new int[RESAMPLES][size];
    for (int[] drawn : all) draw(drawn, random);
    return all;
  }

  private static void draw(int[] drawn, SplittableRandom random) {
    for (int n = 0; n < drawn.length; n++) drawn[n] = below(drawn.length, random);
  }

  /**
   * A number from 0 to below {@code bound}, by multiplication (D. Lemire, "Fast random integer
   * generation in an interval", ACM TOMACS 29 (2019) 3) without its rejections: no number is more
   * likely than another by more than {@code bound} / 2^32.
   */
  static int below(int bound, SplittableRandom random) {
    return (int) (((random.nextInt() & 0xFFFF_FFFFL) * bound) >>> 32);
  }

  /** From so many values of a statistic as there are resamples, none of which is not a number. */
  static Interval interval(double[] values) {
    int tail = RESAMPLES / 40;
    return new Interval(ranked(values, tail, 1), -ranked(values, tail, -1));
  }

  /** The value of this rank, from 1, among the values times {@code sign}, the least first. */
  private static double ranked(double[] values, int rank, int sign) {
    double[] least = new double[rank];
    Arrays.fill(least, Double.POSITIVE_INFINITY);
    for (double value : values) {
      double one = sign * value;
      if (one >= least[rank - 1]) continue;
      int place = rank - 1;
      for (; place > 0 && least[place - 1] > one; place--) least[place] = least[place - 1];
      least[place] = one;
    }
    return least[rank - 1];
  }
}
