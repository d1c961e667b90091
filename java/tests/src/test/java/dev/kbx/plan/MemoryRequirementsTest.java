package dev.kbx.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.worker.OracleMessage;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Memory and time of a candidate follow from what its task's weights and calls take. */
class MemoryRequirementsTest {
  private static final long GIB = 1L << 30;
  private static final MemoryRequirements WIDE =
      estimated(0, 8 * GIB, 40 * GIB, 160 * GIB, 48 * GIB);
  private static final MemoryRequirements LONG =
      estimated(8 * GIB, 0, 90 * GIB, 180 * GIB, 64 * GIB);

  private static MemoryRequirements estimated(
      long lent, long weights, long device, long gpu, long host) {
    return MemoryRequirements.of(
        new OracleMessage.MemoryEstimated(1, lent, lent, weights, device), gpu, host);
  }

  @Test
  void weightsAddMemoryAndTime() {
    Limits usual = Limits.defaults();
    Limits wide = usual.with(WIDE);
    assertThat(wide.allowance().memoryBytes())
        .isEqualTo(usual.allowance().memoryBytes() + 16 * GIB);
    assertThat(wide.load()).isEqualTo(usual.load().plus(Duration.ofMinutes(2)));
    assertThat(wide.call()).isEqualTo(usual.call());
    assertThat(wide.needs()).isEqualTo(WIDE);
  }

  @Test
  void inputsAndResultsNeedDeviceMemory() {
    Limits usual = Limits.defaults();
    assertThat(usual.with(LONG).allowance()).isEqualTo(usual.allowance());
    assertThat(usual.with(LONG).load()).isEqualTo(usual.load());
    assertThat(usual.with(MemoryRequirements.USUAL)).isEqualTo(usual);
  }

  @Test
  void shareIsOfTheScarcestResource() {
    assertThat(MemoryRequirements.USUAL.part()).isZero();
    assertThat(LONG.part()).isCloseTo(0.5, within(1e-9)); // the GPU
    assertThat(WIDE.part()).isCloseTo(0.5, within(1e-9)); // the host
    assertThat(estimated(8 * GIB, 0, 90 * GIB, 80 * GIB, 64 * GIB).part()).isGreaterThan(1);
    assertThat(MemoryRequirements.of(new OracleMessage.MemoryEstimated(1, 0, 0, 0, 0), null, null))
        .isEqualTo(MemoryRequirements.USUAL);
  }
}
