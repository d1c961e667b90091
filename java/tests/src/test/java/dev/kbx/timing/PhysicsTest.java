package dev.kbx.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.PeakRates;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PhysicsTest {
  /** 100 MB are flushed and 50 MB returned, at 1000 GB/s. */
  private static Physics physics(boolean copied) {
    var size =
        new OracleMessage.PreparedSize(
            1, 100_000_000, null, null, null, null, null, List.of(), 50_000_000L, copied);
    return Physics.of(size, new PeakRates(1000.0, null, null, Map.of()));
  }

  @Test
  void copiesOfOneSideAreAllowedToThatSide() {
    assertThat(physics(false).copyMs()).isCloseTo(0.1, within(1e-9));
    assertThat(physics(true).copyMs()).isZero();
  }

  @Test
  void flushesAndCommonCopiesAreOutsideACall() {
    assertThat(physics(false).besideMs(HostRunAhead.NONE)).isCloseTo(0.1, within(1e-9));
    assertThat(physics(false).besideMs(HostRunAhead.LAUNCHES)).isCloseTo(0.6, within(1e-9));
    assertThat(physics(true).besideMs(HostRunAhead.GRAPHS)).isCloseTo(0.3, within(1e-9));
  }
}
