package dev.kbx.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.analysis.VerdictRow;
import org.junit.jupiter.api.Test;

/** The part of a verdict that analyses read gives the same rows as the whole. */
class BriefVerdictTest {
  private static SimulatedRun run() {
    return SimulatedRun.on(SimulatedRun.H200, 1)
        .by("refine")
        .model("m")
        .round(2)
        .correct("Math/exp", "a", 1.5)
        .timed("Math/exp", "b", 1.5, 1.1, Double.NaN)
        .breaking("Math/exp", "c", "empty", "option:dim")
        .rejected("Math/exp", "d", "no-kernel")
        .saying("shape=(3,): 2 wrong elements")
        .wrong("Math/exp", "e", Status.WRONG_VALUES)
        .ofUnknownGrade("Math/exp", "f");
  }

  @Test
  void givesTheSameRows() {
    for (Verdict whole : run().verdicts()) {
      Verdict brief = Verdict.brief(Json.mapper().writeValueAsString(whole));
      assertThat(VerdictRow.of(brief)).isEqualTo(VerdictRow.of(whole));
      assertThat(brief.stage()).isEqualTo(whole.stage());
      assertThat(brief.rule()).isEqualTo(whole.rule());
      assertThat(brief.message()).isEqualTo(whole.message());
      assertThat(brief.versions()).isEmpty();
    }
  }

  @Test
  void readsWhoComputed() {
    String text =
        """
        {"run":"r","candidate":"c","source":"s","suite":"x","task":"t","category":"C","sample":1,
         "status":"not_a_kernel","stage":"correct","evidence":"aten::mm","call_ok":true,
         "exe_ok":true,"flags":["scaled_inputs"],"kernels":[{"kernel":"k","arch":"sm_90"}],
         "without_policy":{"status":"correct","stage":"correct"},
         "origin":{"kernel_share":0.25,"operations":[{"name":"aten::mm","share":1}]},
         "device":{"kind":"cpu","name":"AMD"},"versions":{"kbx":"0"},"seconds":{"call":1}}
        """;
    VerdictRow row = VerdictRow.of(Verdict.brief(text));
    assertThat(row).isEqualTo(VerdictRow.of(Json.mapper().readValue(text, Verdict.class)));
    assertThat(row.kernelShare()).isEqualTo(0.25);
    assertThat(row.refusedByPolicy()).isTrue();
    assertThat(row.scaled()).isTrue();
  }
}
