package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Known answers of SciPy 1.17.1 with NumPy 2.4.6 on Python 3.11:
 *
 * <pre>
 * scipy.stats.spearmanr(x, y), spearmanr(x, b), spearmanr(np.repeat(x, c), np.repeat(b, c))
 * scipy.stats.bootstrap((x, y), spearmanr, paired=True, n_resamples=20000, method="percentile", rng=1)
 * </pre>
 *
 * and 20000 resamples of whole clusters drawn with NumPy, for which SciPy has no function.
 */
class RankCorrelationTest {
  private static final double[] X = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
  private static final double[] Y = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5};
  private static final double[] B = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1};
  private static final int[] C = {1, 2, 1, 3, 1, 1, 2, 1, 1, 4, 1, 2};

  private static RankCorrelation of(double[] x, double[] y, int[] counts, int[] clusters) {
    return Objects.requireNonNull(RankCorrelation.of(x, y, counts, clusters));
  }

  private static int[] ones(int length) {
    int[] ones = new int[length];
    Arrays.fill(ones, 1);
    return ones;
  }

  private static int[] each(int length) {
    return IntStream.range(0, length).toArray();
  }

  @Test
  void tiesHaveMeanRanks() {
    assertThat(of(X, Y, ones(12), each(12)).value()).isCloseTo(0.1415796863640157, within(1e-12));
    assertThat(of(X, B, ones(12), each(12)).value()).isCloseTo(0.14846149779161807, within(1e-12));
  }

  @Test
  void repeatedPointsAreAllowed() {
    assertThat(of(X, B, C, each(12)).value()).isCloseTo(-0.05777355546974314, within(1e-12));
  }

  @Test
  void theIntervalIsAPercentileBootstrap() {
    RankCorrelation found = of(X, Y, ones(12), each(12));
    assertThat(found.low()).isCloseTo(-0.511, within(0.06));
    assertThat(found.high()).isCloseTo(0.815, within(0.05));
  }

  @Test
  void clustersAreDrawnWhole() {
    double[] x = {
      10, 11, 9, 7, 9, 7, 10, 14, 9, 8, 11, 11, 10, 7, 10, 12, 6, 9, 4, 6, 4, 9, 6, 11, 10, 9, 2, 8,
      10, 10
    };
    double[] y = {
      4, 9, 5, 4, 13, 4, 10, 18, 7, 8, 11, 11, 5, 7, 15, 6, 9, 9, 1, 14, 7, 4, 6, 13, 9, 12, 2, 11,
      16, 7
    };
    int[] threes = IntStream.range(0, 30).map(i -> i / 3).toArray();
    RankCorrelation found = of(x, y, ones(30), threes);
    assertThat(found.value()).isCloseTo(0.43679430665186086, within(1e-12));
    assertThat(found.low()).isCloseTo(0.141, within(0.04));
    assertThat(found.high()).isCloseTo(0.682, within(0.03));
  }

  @Test
  void constantSeriesHaveNoCorrelation() {
    assertThat(RankCorrelation.of(new double[] {1, 1, 1}, new double[] {1, 2, 3}, ones(3), each(3)))
        .isNull();
    assertThat(RankCorrelation.of(new double[0], new double[0], ones(0), each(0))).isNull();
    RankCorrelation two = of(new double[] {1, 2}, new double[] {1, 2}, ones(2), each(2));
    assertThat(two.value()).isEqualTo(1);
    assertThat(two.low()).as("two clusters have no interval").isNull();
  }
}
