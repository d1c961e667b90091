package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.analysis.VerdictRow;
import dev.kbx.verdict.Verdict;
import java.util.List;
import org.junit.jupiter.api.Test;

class AnchorsTest {
  private static final Verdict RELU =
      Fixtures.passed("Activation/relu", 6, "relu.py", Fixtures.CPU, 1);

  @Test
  void equalNamesOfSeveralMethodsHaveDistinctAnchors() {
    List<Verdict> both =
        List.of(Made.by("single", "m", RELU), Made.by("refine", "m", RELU), RELU, RELU);
    assertThat(PageData.Anchors.of(VerdictRow.of(both)))
        .containsExactly(
            "Activation/relu#6@single m",
            "Activation/relu#6@refine m",
            "Activation/relu#6@",
            "Activation/relu#6@ (2)");
    assertThat(PageData.Anchors.of(VerdictRow.of(List.of(RELU))))
        .containsExactly("Activation/relu#6");
  }
}
