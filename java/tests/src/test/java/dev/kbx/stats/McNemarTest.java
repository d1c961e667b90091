package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class McNemarTest {
  /** The worked example of Fay's R package exact2x2, {@code mcnemar.exact(c(21, 9, 2, 12))}. */
  @Test
  void agreesWithFaysExample() {
    var test = new McNemar(9, 2);
    assertThat(test.pValue()).isCloseTo(0.06543, within(5e-6));
    assertThat(test.oddsRatio()).isCloseTo(0.2222222, within(5e-8));
    assertThat(test.low()).isCloseTo(0.02336464, within(5e-8));
    assertThat(test.high()).isCloseTo(1.07363844, within(5e-8));
  }

  @Test
  void swappingTheTwoInvertsTheOdds() {
    for (int first = 1; first <= 12; first++) {
      for (int second = 1; second <= 12; second++) {
        var test = new McNemar(first, second);
        var swapped = new McNemar(second, first);
        assertThat(swapped.pValue()).isEqualTo(test.pValue());
        assertThat(swapped.low()).isCloseTo(1 / test.high(), within(1e-9));
      }
    }
  }

  /** The interval leaves out 1 exactly where the test finds a difference at 5 %. */
  @Test
  void intervalAndTestAgree() {
    for (int first = 0; first <= 25; first++) {
      for (int second = 0; second <= 25; second++) {
        var test = new McNemar(first, second);
        boolean leavesOutOne = test.low() > 1 || test.high() < 1;
        assertThat(leavesOutOne).as("%d, %d", first, second).isEqualTo(test.pValue() < 0.05);
      }
    }
  }

  @Test
  void noDiscordantPairsGiveNoEvidence() {
    var test = new McNemar(0, 0);
    assertThat(test.pValue()).isEqualTo(1);
    assertThat(test.oddsRatio()).isNaN();
    assertThat(test.low()).isZero();
    assertThat(test.high()).isInfinite();
    assertThatIllegalArgumentException().isThrownBy(() -> new McNemar(-1, 2));
  }

  @Test
  void oneSidedCountsHaveAnInfiniteUpperBound() {
    var test = new McNemar(0, 6);
    assertThat(test.pValue()).isCloseTo(2 / 64.0, within(1e-12));
    assertThat(test.oddsRatio()).isInfinite();
    assertThat(test.high()).isInfinite();
    assertThat(test.low()).isGreaterThan(1);
  }
}
