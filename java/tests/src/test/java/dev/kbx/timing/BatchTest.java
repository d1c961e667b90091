package dev.kbx.timing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.worker.OracleMessage;
import java.util.List;
import org.junit.jupiter.api.Test;

class BatchTest {
  @Test
  void batchIsHostBoundIfMostCallsAre() {
    assertThat(batch(2).hostBound()).isFalse();
    assertThat(batch(3).hostBound()).isTrue();
  }

  private static Batch batch(int waited) {
    var state = new OracleMessage.DeviceState(null, null, null, null, null);
    var measured =
        new OracleMessage.BaselineMeasured(
            1, List.of(1.0, 1.0, 1.0, 1.0), 0.004, state, 0, null, waited, null);
    return Batch.of(measured, 5);
  }
}
