package dev.kbx.timing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimedOperationsTest {
  private final TimedOperations operations = new TimedOperations();

  @Test
  void workLeftToPyTorchInTimedCallsAloneIsCheating() {
    operations.watched(List.of("mul"));
    assertThat(operations.judge(List.of("tanh", "mul"), "(4096,)"))
        .hasValueSatisfying(found -> {
          assertThat(found.status()).isEqualTo(Status.CHEATING);
          assertThat(found.evidence()).contains("at (4096,)", "does not: tanh");
        });
  }

  @Test
  void theSameOperationsInEveryCallAreNoFinding() {
    operations.watched(List.of("mul", "sum"));
    assertThat(operations.judge(List.of("mul"), "(4096,)")).isEmpty();
  }

  @Test
  void anOperationThatOtherValuesNeedIsNoFindingOnceItWasWatched() {
    operations.watched(List.of("mul"));
    assertThat(operations.unwatched(List.of("complex", "mul"))).containsExactly("complex");
    operations.watched(List.of("complex", "mul"));
    assertThat(operations.judge(List.of("complex", "mul"), "(4096,)")).isEmpty();
  }

  @Test
  void aWatchedCallWithoutCountsClearsNothing() {
    operations.watched(null);
    assertThat(operations.judge(List.of("tanh"), "(4096,)")).isPresent();
  }
}
