package dev.kbx.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JudgementTest {
  @Test
  void whatWasFoundComesBeforeALongCall() {
    String call = "inputs=(param=f32[1000], grad=f32[1000], exp_avg=f32[1000], lr=0.001), drawn";
    assertThat(Judgement.findingFirst(call + " values: 3 wrong elements: first\noutput"))
        .isEqualTo("3 wrong elements: first\noutput; called with " + call + " values");
    for (String kept : List.of("shape=(37,), standard values: 3 wrong elements", call)) {
      assertThat(Judgement.findingFirst(kept)).isEqualTo(kept);
    }
    assertThat(Judgement.findingFirst(null)).isNull();
  }

  /** Empty cells are not known. */
  @ParameterizedTest
  @CsvSource({
    "correct,       correct, true,  false, true,  true",
    // By the published rules alone, or by all others.
    "wrong_values,  correct, true,  false, true,  false",
    "race,          correct, true,  false, true,  false",
    "correct,       correct, false, false, false, true",
    "wrong_values,  correct, false, false, false, false",
    // Refuted while it was timed.
    "wrong_values,  perf,    true,  false, false, false",
    "cheating,      perf,    true,  false, false, false",
    "not_a_kernel,  perf,    true,  false, false, false",
    // Not refuted: it only ended while it was timed.
    "timeout,       perf,    true,  false, true,  false",
    "crashed,       perf,    true,  false, true,  false",
    "infrastructure,perf,    true,  false, true,  ",
    // Refused because of who computes, and run nevertheless.
    "not_a_kernel,  correct, true,  true,  false, false",
    "not_a_kernel,  correct, false, true,  false, false",
    // Not compared.
    "correct,       call,    ,      false, ,      ",
    "cheating,      call,    ,      false, false, false",
    "not_a_kernel,  static,  ,      true,  false, false",
    "compile_error, compile, ,      false, ,      false",
    "infrastructure,call,    ,      false, ,      ",
  })
  void statusAndCellsDecideCorrectness(
      String status,
      String stage,
      @Nullable Boolean exeOk,
      boolean ranWithoutPolicy,
      @Nullable Boolean ownRight,
      @Nullable Boolean correct) {
    Judgement judgement = judgement(status, stage, exeOk, ranWithoutPolicy);
    assertThat(judgement.ownRight()).isEqualTo(ownRight);
    assertThat(judgement.correct()).isEqualTo(correct);
  }

  private static Judgement judgement(
      String status, String stage, @Nullable Boolean exeOk, boolean ranWithoutPolicy) {
    String run = "{\"status\": \"correct\", \"stage\": \"correct\"}";
    return Json.mapper()
        .readValue(
            """
            {"status": "%s", "stage": "%s", "exe_ok": %s, "without_policy": %s, "evidence": "policy: torch.relu",
             "flags": [], "device": {"kind": "cpu", "name": "a CPU"}, "versions": {}, "seconds": {}}
            """
                .formatted(status, stage, exeOk, ranWithoutPolicy ? run : null),
            Judgement.class);
  }
}
