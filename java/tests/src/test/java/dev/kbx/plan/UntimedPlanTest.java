package dev.kbx.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.check.Rules;
import dev.kbx.verdict.Stage;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Plans without the perf stage. */
class UntimedPlanTest {
  @Test
  void perfAloneBecomesTheStagesBeforeIt() {
    assertThat(untimed(Stage.PERF))
        .containsExactly(Stage.STATIC, Stage.COMPILE, Stage.CALL, Stage.CORRECT);
    assertThat(untimed(Stage.STATIC, Stage.PERF)).containsExactly(Stage.STATIC);
    assertThat(untimed(Stage.CALL)).containsExactly(Stage.CALL);
  }

  private static List<Stage> untimed(Stage... stages) {
    Plan plan = new Plan(List.of(stages), Rules.all(), Plan.ARCH, "secret", Limits.defaults());
    return plan.untimed().stages();
  }
}
