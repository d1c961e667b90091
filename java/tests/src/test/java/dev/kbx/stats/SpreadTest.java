package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SpreadTest {
  private static final double Z = 1.959963984540054;

  private static Ratio ratio(double log, double halfWidth) {
    return new Ratio(Math.exp(log), Math.exp(log - halfWidth), Math.exp(log + halfWidth));
  }

  @Test
  void twoDevicesNeedNoWidening() {
    Spread spread = Spread.of(List.of(ratio(0.1, 0.01), ratio(0.4, 0.01)));
    assertThat(spread.smallest()).isZero();
    assertThat(spread.largest()).isEqualTo(1);
    assertThat(Math.log(spread.low())).isCloseTo(0.3 - 0.01 * Math.sqrt(2), within(1e-9));
    assertThat(Math.log(spread.high())).isCloseTo(0.3 + 0.01 * Math.sqrt(2), within(1e-9));
    assertThat(spread.toldApart()).isTrue();
  }

  /** Three pairs: the normal quantile of 1 − 0.05 / 6 is 2.393980. */
  @Test
  void moreDevicesWidenByBonferroni() {
    Spread spread = Spread.of(List.of(ratio(0, 0.01), ratio(0.3, 0.01), ratio(0.15, 0.01)));
    double halfWidth = 0.01 * Math.sqrt(2) * 2.3939798 / Z;
    assertThat(Math.log(spread.low())).isCloseTo(0.3 - halfWidth, within(1e-7));
    assertThat(Math.log(spread.high())).isCloseTo(0.3 + halfWidth, within(1e-7));
  }

  @Test
  void spreadIsNeverBelowOne() {
    Spread spread = Spread.of(List.of(ratio(0, 0.05), ratio(0.01, 0.05)));
    assertThat(spread.low()).isEqualTo(1);
    assertThat(spread.toldApart()).isFalse();
    assertThatIllegalArgumentException().isThrownBy(() -> Spread.of(List.of(ratio(0, 1))));
  }

  /**
   * Of six devices that are equal, the largest is over the smallest by picking alone; the interval
   * must hold 1 in at least 95 % of tries all the same.
   */
  @Test
  void selectionOfExtremesIsCorrected() {
    assertThat(covered(6, 0)).isGreaterThanOrEqualTo(0.95);
    assertThat(covered(6, 0.03)).isGreaterThanOrEqualTo(0.95);
    assertThat(covered(2, 0.01)).isGreaterThanOrEqualTo(0.94);
  }

  /** Share of tries whose interval holds the truth; the first device is faster by {@code gap}. */
  private static double covered(int devices, double gap) {
    var random = new Random(20_261_122);
    int tries = 4_000;
    int covered = 0;
    for (int i = 0; i < tries; i++) {
      List<Ratio> speedups = new ArrayList<>();
      for (int d = 0; d < devices; d++) {
        double truth = d == 0 ? gap : 0;
        speedups.add(ratio(truth + 0.01 * random.nextGaussian(), 0.01 * Z));
      }
      Spread spread = Spread.of(speedups);
      if (spread.low() <= Math.exp(gap) && Math.exp(gap) <= spread.high()) covered++;
    }
    return (double) covered / tries;
  }
}
