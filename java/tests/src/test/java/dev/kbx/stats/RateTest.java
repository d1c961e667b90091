package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RateTest {
  /** Newcombe (1998), table I, method 3. */
  @ParameterizedTest
  @CsvSource({
    "81, 263, 0.2553, 0.3662",
    "15, 148, 0.0624, 0.1605",
    " 0,  20, 0.0000, 0.1611",
    " 1,  29, 0.0061, 0.1718",
  })
  void intervalsAreNewcombes(long passes, long total, double low, double high) {
    var rate = new Rate(passes, total);
    assertThat(rate.low()).isCloseTo(low, within(5e-5));
    assertThat(rate.high()).isCloseTo(high, within(5e-5));
    assertThat(rate.value()).isBetween(rate.low(), rate.high());
  }

  @Test
  void passesAndFailuresMirrorEachOther() {
    for (int passes = 0; passes <= 30; passes++) {
      var rate = new Rate(passes, 30);
      var mirrored = new Rate(30 - passes, 30);
      assertThat(rate.low()).isCloseTo(1 - mirrored.high(), within(1e-12));
    }
    assertThat(new Rate(0, 30).low()).isEqualTo(0);
    assertThat(new Rate(30, 30).high()).isEqualTo(1);
  }

  @Test
  void emptyRateIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new Rate(0, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> new Rate(3, 2));
  }
}
