package dev.kbx.timing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimedOperationsTest {
  private final TimedOperations operations = new TimedOperations();

  @Test
  void workLeftToPyTorchInTimedCallsAloneIsCheating() {
    operations.timed(List.of("tanh", "mul"));
    operations.watched(List.of("mul"));
    operations.timed(List.of("mul"));
    assertThat(operations.judge("(4096,)"))
        .hasValueSatisfying(found -> {
          assertThat(found.status()).isEqualTo(Status.CHEATING);
          assertThat(found.evidence()).contains("at (4096,)", "does not: tanh");
        });
  }

  @Test
  void theSameOperationsInEveryCallAreNoFinding() {
    operations.timed(List.of("mul"));
    operations.watched(List.of("mul", "sum"));
    assertThat(operations.judge("(4096,)")).isEmpty();
  }

  @Test
  void nothingIsFoundWithoutAWatchedCall() {
    operations.timed(List.of("tanh"));
    operations.watched(null);
    assertThat(operations.judge("(4096,)")).isEmpty();
  }
}
