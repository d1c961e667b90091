package dev.kbx.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class FeedbackTest {
  private static final Prompts PROMPTS = Prompts.bundled(Path.of(""));

  private static final Task GELU = Bundled.suite("kernelbenchx").find("gelu").getFirst();

  private static final String CODE = "import torch\n\n\ndef gelu(x):\n    return y + 1\n";

  private static String execution(Judgement judgement) {
    return Feedback.text(GELU, CODE, judgement, FeedbackKind.EXECUTION, PROMPTS);
  }

  private static String profile(Judgement judgement) {
    return Feedback.text(GELU, CODE, judgement, FeedbackKind.PROFILE, PROMPTS);
  }

  @ParameterizedTest
  @EnumSource(Status.class)
  void eachStatusHasText(Status status) {
    Judgement judgement =
        Judgements.of(
            status.label(),
            "call",
            "\"message\": \"Why so.\", \"evidence\": \"e\", \"rule\": \"no-kernel\"");
    assertThat(execution(judgement))
        .contains(status == Status.CORRECT ? "correct" : status.label());
    assertThat(execution(judgement)).contains("Why so.");
    assertThat(execution(judgement).contains("says nothing about the kernel"))
        .isEqualTo(status == Status.INFRASTRUCTURE);
  }

  /** The status alone does not say why a result that may be right is refused. */
  @ParameterizedTest
  @CsvSource({
    "out_of_bounds, mask every load and store",
    "race, run at the same time",
    "order_dependent, run in any order",
    "undefined_value, hold anything"
  })
  void whatALaunchDoesToMemoryIsExplained(String status, String words) {
    assertThat(execution(Judgements.of(status, "correct", "\"message\": \"m\"")))
        .containsOnlyOnce(words);
    assertThat(execution(Judgements.wrong())).doesNotContain(words);
  }

  @Test
  void kindNoneHasNoText() {
    assertThat(Feedback.text(GELU, CODE, Judgements.wrong(), FeedbackKind.NONE, PROMPTS)).isEmpty();
  }

  @Test
  void errorNamesTheLineOfTheKernel() {
    String raised =
        execution(
            Judgements.of(
                "runtime_error",
                "call",
                "\"message\": \"NameError (line 5): y\", \"frames\": [{\"line\": 5, \"function\":"
                    + " \"gelu\"}]"));
    assertThat(raised).contains("stage `call`", "NameError (line 5): y");
    assertThat(raised).contains("- line 5, in `gelu`: `return y + 1`");
    String compiled =
        execution(Judgements.of("compile_error", "compile", "\"message\": \"E (line 4): no\""));
    assertThat(compiled).contains("Line 4 of the file: `def gelu(x):`");
  }

  @Test
  void wrongElementsHaveIndices() {
    assertThat(execution(Judgements.wrong()))
        .contains("2 wrong elements of 1000, ", "; they are 2 times what is expected\n```")
        .contains("The largest error is 37.2 times the allowed error.")
        .contains("- `output[3, 7]`: expected 1, got 2");
  }

  @Test
  void propertiesAreListed() {
    String text =
        execution(
            Judgements.of(
                "correct",
                "correct",
                "\"holds\": [\"empty\", \"zeros\"], \"breaks\": [{\"property\": \"non_contiguous\","
                    + " \"case\": \"strided=True\", \"status\": \"wrong_values\", \"message\":"
                    + " \"strided=True: 3 wrong\"}]"));
    assertThat(text).contains("- `non_contiguous` (`wrong_values`): strided=True: 3 wrong");
    assertThat(text).contains("Results are correct in calls with these properties: empty, zeros.");
  }

  @Test
  void ruleHasItsAdviceOnce() {
    String advice = "launch the kernel, kernel[grid](…), from the entry and return what it stored";
    String said =
        execution(
            Judgements.of(
                "rejected_static",
                "static",
                "\"rule\": \"decoy-kernel\", \"message\": \"line 4: k is never launched; instead: %s\""
                    .formatted(advice)));
    assertThat(said).contains("The rule `decoy-kernel`").containsOnlyOnce(advice);
    String bare =
        execution(
            Judgements.of(
                "rejected_static", "static", "\"rule\": \"decoy-kernel\", \"message\": \"k\""));
    assertThat(bare).containsOnlyOnce("Instead: " + advice + ".");
    String unknown =
        execution(
            Judgements.of("rejected_static", "static", "\"rule\": \"later\", \"message\": \"k\""));
    assertThat(unknown).contains("The rule `later`").doesNotContain("Instead");
  }

  @Test
  void feedbackNamesTheOperationsThatComputedInstead() {
    String text =
        execution(
            Judgements.of(
                "not_a_kernel",
                "correct",
                "\"evidence\": \"policy: torch did it\", \"origin\": {\"kernel_share\": 0.25,"
                    + " \"foreign_share\": 0.8, \"operations\": [{\"name\": \"torch.erf\","
                    + " \"line\": 5, \"share\": 1.5}]}"));
    assertThat(text).contains("Evidence: policy: torch did it");
    assertThat(text)
        .contains("computed 25 % of the results; other operations did 80 % of the work");
    assertThat(text).contains("- `torch.erf` in line 5 processed 150 %");
  }

  @Test
  void timesHaveIntervals() {
    String text = execution(Judgements.correct());
    assertThat(text).contains("Speedup: 1.25x [1.20, 1.30] against eager");
    assertThat(text)
        .contains("`shape=(8192, 8192)`: 0.250 ms, reference 0.300 ms: 1.20x [1.19, 1.21]");
    assertThat(text).doesNotContain("peak", "registers", "bounded");
  }

  @Test
  void profileNamesTheBoundAndAdvice() {
    String text = profile(Judgements.correct());
    assertThat(text).contains("51 % of the peak bandwidth; an ideal kernel takes 0.128 ms");
    assertThat(text).contains("- 40 registers a thread\n- 2048 bytes of shared memory a block\n");
    assertThat(text)
        .contains("At the size that takes longest, the kernel is limited by memory traffic.");
    assertThat(text).contains("To spend less time on memory traffic", "tl.load");
  }

  @Test
  void adviceIsForTheKernelLanguage() {
    String cuda = "from torch.utils.cpp_extension import load_inline\n";
    String text = Feedback.text(GELU, cuda, Judgements.correct(), FeedbackKind.PROFILE, PROMPTS);
    assertThat(text).contains("float4").doesNotContain("tl.load");
  }

  @Test
  void boundFollowsFromMetrics() {
    String size =
        "\"sizes\": [{\"shape\": \"s\", \"candidate_ms\": 1, \"reference_ms\": 1, \"speedup\": 1,"
            + " \"low\": 1, \"high\": 1, \"rounds\": 8, %s}]";
    assertThat(
            profile(Judgements.of("correct", "perf", size.formatted("\"iou\": 0.2, \"mfu\": 0.6"))))
        .contains("limited by arithmetic");
    assertThat(profile(Judgements.of("correct", "perf", size.formatted("\"bound\": \"launch\""))))
        .contains("limited by the cost of launching");
    assertThat(
            profile(
                Judgements.of(
                    "correct",
                    "perf",
                    size.formatted("\"iou\": 0.2")
                        + ", \"compile\": {\"arch\": \"sm_90\", \"registers\": 255, \"spills\":"
                        + " 64}")))
        .contains("limited by occupancy", "64 bytes spilled");
    assertThat(profile(Judgements.of("correct", "perf", size.formatted("\"gbs\": 1"))))
        .doesNotContain("bounded");
  }

  @Test
  void countersOfNsightComputeAreListed() {
    String kernels =
        "\"profile\": {\"shape\": \"s\", \"kernels\": [{\"kernel\": \"k\", \"launches\": 2,"
            + " \"duration_ms\": 0.5, \"achieved_occupancy_pct\": 12, \"dram_pct\": 30, \"sm_pct\":"
            + " 20, \"stall\": \"long_scoreboard\", \"stall_pct\": 61}]}";
    assertThat(profile(Judgements.of("correct", "perf", kernels)))
        .contains(
            "- `k`, launched 2 times: 0.500 ms, 12 % of the warps active, 30 % of the memory's"
                + " peak")
        .contains("61 % of the time stalled (`long_scoreboard`)")
        .contains("limited by occupancy");
    assertThat(
            profile(
                Judgements.of("correct", "perf", "\"profile\": {\"failure\": \"ncu is missing\"}")))
        .contains("Nsight Compute gave no figures: ncu is missing");
  }

  @Test
  void flagsAreExplained() {
    String text =
        execution(
            Judgements.of(
                "correct", "perf", "\"flags\": [\"large_workspace\", \"nondeterministic\"]"));
    assertThat(text)
        .contains(
            "100 times as much device memory", "Calls with equal inputs returned different bits");
  }

  @Test
  void longTextIsCutInTheMiddle() {
    String log = "first" + "x".repeat(200_000) + "last";
    String text =
        execution(
            Judgements.of(
                "compile_error",
                "compile",
                "\"message\": %s, \"output\": %s"
                    .formatted(
                        Json.mapper().writeValueAsString(log),
                        Json.mapper().writeValueAsString(log))));
    assertThat(text.length()).isLessThan(Feedback.LIMIT + 100);
    assertThat(text).contains("first", "last", "[... 196009 characters left out ...]");
    assertThat(Feedback.Excerpts.cut("😀".repeat(50), 41).replace("😀", ""))
        .doesNotContain("\ud83d", "\ude00");
  }

  @Test
  void leavesOutDeviceIdentity() {
    assertThat(profile(Judgements.correct())).doesNotContain("GPU-5e3d", "570.1");
  }

  @Test
  void leavesOutUnknownFigures() {
    String text = profile(Judgements.of("correct", "correct", ""));
    assertThat(text).isEqualTo("Outcome: correct.\n");
  }
}
