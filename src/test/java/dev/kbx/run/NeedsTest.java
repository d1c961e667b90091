package dev.kbx.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Memory and time of a candidate follow from what its task's weights and calls take. */
class NeedsTest {
  private static final long GIB = 1L << 30;
  private static final Needs WIDE = new Needs(GIB, GIB, 8 * GIB, 40 * GIB);
  private static final Needs LONG = new Needs(8 * GIB, 8 * GIB, 0, 90 * GIB);

  @Test
  void weightsHaveRoomAndTime() {
    Limits usual = Limits.defaults();
    Limits wide = usual.with(WIDE);
    assertThat(wide.allowance().memoryBytes())
        .isEqualTo(usual.allowance().memoryBytes() + 16 * GIB);
    assertThat(wide.load()).isEqualTo(usual.load().plus(Duration.ofMinutes(2)));
    assertThat(wide.call()).isEqualTo(usual.call());
    assertThat(wide.needs()).isEqualTo(WIDE);
  }

  @Test
  void inputsAndResultsLieOnTheDevice() {
    Limits usual = Limits.defaults();
    assertThat(usual.with(LONG).allowance()).isEqualTo(usual.allowance());
    assertThat(usual.with(LONG).load()).isEqualTo(usual.load());
    assertThat(usual.with(Needs.USUAL)).isEqualTo(usual);
  }

  @Test
  void thePartIsOfWhateverIsShortest() {
    assertThat(Needs.USUAL.part(80 * GIB, 64 * GIB)).isZero();
    assertThat(LONG.part(180 * GIB, 64 * GIB)).isCloseTo(0.5, within(1e-9));
    assertThat(LONG.part(80 * GIB, 64 * GIB)).isGreaterThan(1);
    assertThat(WIDE.part(160 * GIB, 48 * GIB)).isCloseTo(0.5, within(1e-9));
  }
}
