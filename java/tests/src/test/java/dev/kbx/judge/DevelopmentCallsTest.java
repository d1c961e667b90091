package dev.kbx.judge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.plan.Inputs;
import dev.kbx.worker.OracleMessage.PlannedCall;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DevelopmentCallsTest {
  private static List<PlannedCall> calls(int published, int beyond) {
    List<PlannedCall> calls = new ArrayList<>();
    for (int i = 0; i < published + beyond; i++) {
      List<String> properties = i < published ? List.of() : List.of("empty");
      for (String values : List.of("standard", "outliers")) {
        calls.add(new PlannedCall(calls.size(), "n=" + i, values, null, properties, null));
      }
    }
    return calls;
  }

  private static List<String> cases(List<PlannedCall> calls) {
    return calls.stream().map(PlannedCall::parameters).distinct().toList();
  }

  @Test
  void everyThirdCaseIsReservedForTheFinalJudgement() {
    List<PlannedCall> made = DevelopmentCalls.of(Inputs.DEVELOPMENT, calls(4, 3));
    assertThat(cases(made)).containsExactly("n=0", "n=1", "n=3", "n=4", "n=5");
    assertThat(made).hasSize(10);
  }

  @Test
  void soleCaseIsUsedDuringDevelopment() {
    assertThat(DevelopmentCalls.of(Inputs.DEVELOPMENT, calls(1, 0))).hasSize(2);
  }

  @Test
  void finalJudgementMakesAllCalls() {
    assertThat(DevelopmentCalls.of(Inputs.ALL, calls(4, 3))).isEqualTo(calls(4, 3));
  }
}
