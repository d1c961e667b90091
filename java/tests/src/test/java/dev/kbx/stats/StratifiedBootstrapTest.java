package dev.kbx.stats;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Units are drawn within their strata. */
class StratifiedBootstrapTest {
  @Test
  void drawsKeepTheSizeOfEachStratum() {
    var bootstrap = new StratifiedBootstrap(new int[] {0, 1, 0, 1, 1});
    var _ =
        bootstrap.intervals(
            500,
            drawn -> {
              assertThat(drawn[0] + drawn[2]).isEqualTo(2);
              assertThat(drawn[1] + drawn[3] + drawn[4]).isEqualTo(3);
              return new double[] {0};
            });
  }

  @Test
  void strataOfOneUnitAddNoSpread() {
    assertThat(new StratifiedBootstrap(new int[] {0, 1, 0, 2}).lone()).isEqualTo(2);
    assertThat(new StratifiedBootstrap(new int[0]).lone()).isZero();
  }

  @Test
  void theIntervalOfAShareIsThatOfTheBinomial() {
    // 40 of 100 units pass: the share's standard deviation is 0.049.
    var bootstrap = new StratifiedBootstrap(new int[100]);
    var interval =
        requireNonNull(
            bootstrap
                .intervals(
                    2_000, drawn -> new double[] {Arrays.stream(drawn).limit(40).sum() / 100.0})
                .getFirst());
    assertThat(interval.low()).isCloseTo(0.4 - 1.96 * 0.049, within(0.015));
    assertThat(interval.high()).isCloseTo(0.4 + 1.96 * 0.049, within(0.015));
  }

  @Test
  void biasCorrectedSpreadIsNotNegative() {
    // The share of units drawn more than once is 0 as observed, and about a quarter in resamples.
    var bootstrap = new StratifiedBootstrap(new int[100]);
    var interval =
        requireNonNull(
            bootstrap
                .intervals(
                    1_000,
                    drawn -> new double[] {Arrays.stream(drawn).filter(n -> n > 1).count() / 100.0})
                .getFirst());
    assertThat(interval.low()).isZero();
    assertThat(interval.high()).isBetween(0.02, 0.1);
  }

  @Test
  void aShareWithoutValuesHasNoInterval() {
    var bootstrap = new StratifiedBootstrap(new int[10]);
    assertThat(
            bootstrap.intervals(
                100, drawn -> new double[] {drawn[0] == 1 ? 1 : Double.NaN, drawn[0] / 10.0}))
        .satisfiesExactly(none -> assertThat(none).isNull(), some -> assertThat(some).isNotNull());
  }
}
