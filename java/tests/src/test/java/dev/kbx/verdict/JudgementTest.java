package dev.kbx.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JudgementTest {
  /** Empty cells are not known. */
  @ParameterizedTest
  @CsvSource({
    "correct,       true,  false, true,  true,  true",
    "wrong_values,  false, false, false, false, false",
    // Refuted while it was timed.
    "cheating,      true,  false, false, false, false",
    "not_a_kernel,  true,  false, false, false, false",
    // Not refuted: it only ended while it was timed.
    "timeout,       true,  false, true,  true,  false",
    "crashed,       true,  false, true,  true,  false",
    "infrastructure,true,  false, true,  true,  ",
    // Refused because of who computes, and run nevertheless.
    "not_a_kernel,  true,  true,  true,  false, false",
    "not_a_kernel,  false, true,  false, false, false",
    // Not compared.
    "correct,       ,      false, ,      ,      ",
    "cheating,      ,      false, false, false, false",
    "not_a_kernel,  ,      true,  ,      false, false",
    "compile_error, ,      false, ,      ,      false",
    "infrastructure,,      false, ,      ,      ",
  })
  void statusAndCellsDecideCorrectness(
      String status,
      @Nullable Boolean exeOk,
      boolean ranWithoutPolicy,
      @Nullable Boolean valuesRight,
      @Nullable Boolean ownRight,
      @Nullable Boolean correct) {
    Judgement judgement = judgement(status, exeOk, ranWithoutPolicy);
    assertThat(judgement.valuesRight()).isEqualTo(valuesRight);
    assertThat(judgement.ownRight()).isEqualTo(ownRight);
    assertThat(judgement.correct()).isEqualTo(correct);
  }

  private static Judgement judgement(
      String status, @Nullable Boolean exeOk, boolean ranWithoutPolicy) {
    String run = "{\"status\": \"correct\", \"stage\": \"correct\"}";
    return Json.mapper()
        .readValue(
            """
            {"status": "%s", "stage": "correct", "exe_ok": %s, "without_policy": %s, "evidence": "policy: torch.relu",
             "flags": [], "device": {"kind": "cpu", "name": "a CPU"}, "versions": {}, "seconds": {}}
            """
                .formatted(status, exeOk, ranWithoutPolicy ? run : null),
            Judgement.class);
  }
}
