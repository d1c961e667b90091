package dev.kbx.stats;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Spearman's rank correlation, with mean ranks for ties (M. G. Kendall, "Rank Correlation Methods"
 * (1948), chapters 1 and 3), and its 95 % percentile bootstrap interval over clusters, such as
 * tasks: rows of one cluster may depend on each other.
 *
 * @param value from −1 to 1
 * @param low lower end; null if it has no value in one resample of twenty or more, as with few
 *     clusters
 */
public record RankCorrelation(double value, @Nullable Double low, @Nullable Double high) {
  private static final int RESAMPLES = 2_000;
  private static final int FEWEST_RESAMPLES = 200;

  /** Points of all resamples together: many points get fewer resamples. */
  private static final int DRAWN = 8_000_000;

  private static final int FEWEST_CLUSTERS = 3;

  /**
   * The correlation of points; null if one of the two has the same value in all.
   *
   * @param counts how often each point occurs
   * @param clusters cluster of each point, from 0
   */
  public static @Nullable RankCorrelation of(double[] x, double[] y, int[] counts, int[] clusters) {
    Ranks one = new Ranks(x);
    Ranks other = new Ranks(y);
    double[] weights = Arrays.stream(counts).asDoubleStream().toArray();
    double value = pearson(one.of(weights), other.of(weights), weights);
    if (Double.isNaN(value)) return null;
    int size = Arrays.stream(clusters).max().orElse(-1) + 1;
    int resamples = Math.clamp(DRAWN / x.length, FEWEST_RESAMPLES, RESAMPLES);
    double[] values = new double[size < FEWEST_CLUSTERS ? 0 : resamples];
    var random = new SplittableRandom(Bootstrap.SEED);
    int[] drawn = new int[size];
    for (int i = 0; i < values.length; i++) {
      Arrays.fill(drawn, 0);
      for (int n = 0; n < size; n++) drawn[random.nextInt(size)]++;
      for (int p = 0; p < weights.length; p++) weights[p] = counts[p] * drawn[clusters[p]];
      values[i] = pearson(one.of(weights), other.of(weights), weights);
    }
    double[] known = Arrays.stream(values).filter(v -> !Double.isNaN(v)).sorted().toArray();
    if (values.length == 0 || known.length < resamples - resamples / 20) {
      return new RankCorrelation(value, null, null);
    }
    int tail = known.length / 40;
    return new RankCorrelation(value, known[tail - 1], known[known.length - tail]);
  }

  /** The ranks of values that are weighted differently each time. */
  private static final class Ranks {
    private final double[] values;
    private final int[] order;
    private final double[] ranks;

    Ranks(double[] values) {
      this.values = values;
      order =
          IntStream.range(0, values.length)
              .boxed()
              .sorted((a, b) -> Double.compare(values[a], values[b]))
              .mapToInt(Integer::intValue)
              .toArray();
      ranks = new double[values.length];
    }

    /** Mean rank of each; the array is overwritten by the next call. */
    double[] of(double[] weights) {
      double before = 0;
      for (int from = 0; from < order.length; ) {
        double tied = 0;
        int to = from;
        while (to < order.length && values[order[to]] == values[order[from]]) {
          tied += weights[order[to++]];
        }
        for (int i = from; i < to; i++) ranks[order[i]] = before + (tied + 1) / 2;
        before += tied;
        from = to;
      }
      return ranks;
    }
  }

  /** NaN if one of the two does not vary. */
  private static double pearson(double[] x, double[] y, double[] weights) {
    double sum = 0;
    double meanX = 0;
    double meanY = 0;
    for (int i = 0; i < x.length; i++) {
      sum += weights[i];
      meanX += weights[i] * x[i];
      meanY += weights[i] * y[i];
    }
    meanX /= sum;
    meanY /= sum;
    double both = 0;
    double ofX = 0;
    double ofY = 0;
    for (int i = 0; i < x.length; i++) {
      double a = x[i] - meanX;
      double b = y[i] - meanY;
      both += weights[i] * a * b;
      ofX += weights[i] * a * a;
      ofY += weights[i] * b * b;
    }
    return ofX <= 0 || ofY <= 0 ? Double.NaN : both / Math.sqrt(ofX * ofY);
  }
}
