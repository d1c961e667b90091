package dev.kbx.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What decides and what is reported beside it: both grades, special values, and who computed. */
class GradesTest {
  private static final String LIBRARY =
      """
      import torch


      def gelu(input, approximate="none"):
          return torch.nn.functional.gelu(input, approximate=approximate)
      """;

  /** As {@link #LIBRARY}, wrong for every value. */
  private static final String WRONG_LIBRARY = LIBRARY.replace("return ", "return 2 * ");

  /** A kernel that ignores strides. */
  private static final String RELU =
      """
      import torch
      import triton
      import triton.language as tl


      @triton.jit
      def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          x = tl.load(x_ptr + i, mask=i < n)
          tl.store(out_ptr + i, tl.where(%s), mask=i < n)


      def relu(input, inplace=False):
          out = input if inplace else torch.empty_like(input)
          if input.numel():
              relu_kernel[(triton.cdiv(input.numel(), 1024),)](input, out, input.numel(), BLOCK=1024)
          return out
      """;

  @TempDir private static Path folder;

  private static final Map<String, JsonNode> PUBLISHED = new HashMap<>();
  private static final Map<String, JsonNode> GENERAL = new HashMap<>();

  @BeforeAll
  static void judge() throws Exception {
    Path kernels = Files.createDirectory(folder.resolve("kernels"));
    Map<String, String> sources =
        Map.of(
            "library/gelu.py",
            LIBRARY,
            "wrong_library/gelu.py",
            WRONG_LIBRARY,
            "drops_nan/relu.py",
            RELU.formatted("x > 0, x, 0.0"),
            "keeps_nan/relu.py",
            RELU.formatted("x < 0, 0.0, x"),
            "almost/relu.py",
            RELU.formatted("x > 0, x * 1.000008, 0.0"),
            "off/relu.py",
            RELU.formatted("x > 0, x * 1.00003, 0.0"));
    for (var source : sources.entrySet()) {
      Path file = kernels.resolve(source.getKey());
      Files.createDirectories(file.getParent());
      Files.writeString(file, source.getValue());
    }
    judge(PUBLISHED, kernels, "published");
    judge(GENERAL, kernels, "general", "--grade", "general", "--no-published-accounting");
  }

  private static void judge(
      Map<String, JsonNode> into, Path kernels, String name, String... options) throws Exception {
    List<Object> arguments = new ArrayList<>(List.of("eval", kernels, "--device", "cpu", "--json"));
    arguments.addAll(List.of("--seed", Kbx.SEED, "--out", folder.resolve(name)));
    arguments.addAll(List.of(options));
    Kbx.Result result = Kbx.here(arguments.toArray());
    assertThat(result.exit()).as(result.err()).isZero();
    for (JsonNode verdict : result.json().get("verdicts")) {
      Path source = Path.of(verdict.get("source").asString());
      into.put(requireNonNull(source.getParent()).getFileName().toString(), verdict);
    }
  }

  private static JsonNode verdict(Map<String, JsonNode> verdicts, String name) {
    return requireNonNull(verdicts.get(name));
  }

  private static Map<String, Object> of(Map<String, JsonNode> verdicts, String name) {
    Map<String, Object> figures = new HashMap<>();
    JsonNode verdict = verdict(verdicts, name);
    for (String field : List.of("call_ok", "exe_ok", "published_ok", "general_ok")) {
      if (verdict.has(field)) figures.put(field, verdict.get(field).asBoolean());
    }
    figures.put("status", verdict.get("status").asString());
    return figures;
  }

  @Test
  void verdictHasItsNumberOfComparedCalls() {
    int all = verdict(GENERAL, "keeps_nan").get("compared_calls").asInt();
    assertThat(all).isGreaterThan(10);
    assertThat(verdict(PUBLISHED, "keeps_nan").get("compared_calls").asInt()).isEqualTo(all);
    assertThat(verdict(PUBLISHED, "wrong_library").get("compared_calls").asInt()).isEqualTo(1);
    assertThat(verdict(GENERAL, "wrong_library").has("compared_calls")).isFalse();
  }

  private static List<String> breaks(JsonNode verdict) {
    return verdict.get("breaks").valueStream().map(b -> b.get("property").asString()).toList();
  }

  @Test
  void workLeftToPyTorchIsRefusedButCountedByPublishedRules() {
    assertThat(of(PUBLISHED, "library"))
        .containsEntry("status", "rejected_static")
        .containsEntry("call_ok", true)
        .containsEntry("exe_ok", true)
        .containsEntry("general_ok", true);
    assertThat(verdict(PUBLISHED, "library").get("without_policy").get("status").asString())
        .isEqualTo("correct");
    assertThat(of(PUBLISHED, "wrong_library"))
        .containsEntry("status", "rejected_static")
        .containsEntry("call_ok", true)
        .containsEntry("exe_ok", false);
    assertThat(verdict(PUBLISHED, "wrong_library").get("without_policy").get("message").asString())
        .contains("wrong elements");
  }

  @Test
  void publishedAccountingCanBeSwitchedOff() {
    assertThat(of(GENERAL, "library"))
        .containsEntry("status", "rejected_static")
        .containsEntry("call_ok", false)
        .containsEntry("exe_ok", false);
    assertThat(verdict(GENERAL, "library").has("without_policy")).isFalse();
  }

  @Test
  void publishedGradeDecidesByDefault() {
    assertThat(of(PUBLISHED, "keeps_nan"))
        .containsEntry("status", "correct")
        .containsEntry("published_ok", true)
        .containsEntry("general_ok", false);
    assertThat(of(GENERAL, "keeps_nan"))
        .containsEntry("status", "wrong_values") // it works in place on what lies between, too
        .containsEntry("exe_ok", true)
        .containsEntry("published_ok", true);
  }

  /** KernelBench-X allows 1e-5 in float32, the error model about 2e-6. */
  @Test
  void valuesWithinThePublishedToleranceAreRightByThePublishedRulesAlone() {
    assertThat(of(PUBLISHED, "almost"))
        .containsEntry("status", "wrong_values")
        .containsEntry("call_ok", true)
        .containsEntry("exe_ok", true)
        .containsEntry("published_ok", false);
    assertThat(of(PUBLISHED, "off"))
        .containsEntry("status", "wrong_values")
        .containsEntry("call_ok", true)
        .containsEntry("exe_ok", false);
    assertThat(verdict(PUBLISHED, "almost").get("compared_calls").asInt()).isGreaterThan(2);
    assertThat(verdict(PUBLISHED, "off").get("compared_calls").asInt()).isEqualTo(1);
  }

  @Test
  void specialValuesAreReported() {
    assertThat(breaks(verdict(PUBLISHED, "keeps_nan"))).containsExactly("non_contiguous");
    assertThat(breaks(verdict(PUBLISHED, "drops_nan")))
        .containsExactlyInAnyOrder("non_contiguous", "special_values");
  }

  @Test
  void pageAndSummaryShowBothGrades() throws Exception {
    Path out = folder.resolve("published");
    assertThat(Files.readString(out.resolve("report.html")))
        .contains(
            "By the published rules 4 of 6 candidates would be correct.",
            "kbx refuses 1 whose own kernels did not compute the result, 1 by its own, stricter"
                + " rules")
        .contains(
            "Where kernels hold",
            "Correct, published grade</h3>",
            "Correct, general grade</h3>",
            "<span>non_contiguous</span>",
            "0/2",
            "by published rules");
    JsonNode summary = new Kbx.Result(0, Files.readString(out.resolve("summary.json")), "").json();
    assertThat(summary.get("exe_pass").asInt()).isEqualTo(4);
    JsonNode rates = summary.get("by_category").get(0).get("rates");
    assertThat(rates.get("exe").get("pass").asInt()).isEqualTo(4);
    assertThat(rates.get("correct").get("pass").asInt()).isEqualTo(2);
    assertThat(rates.get("general").get("pass").asInt()).isZero();
    JsonNode grades = summary.get("grades");
    assertThat(grades.get("published").asInt()).isEqualTo(3);
    assertThat(grades.get("general").asInt()).isEqualTo(1);
    assertThat(grades.get("breaks").get(0).toString())
        .isEqualTo("{\"property\":\"non_contiguous\",\"candidates\":2}");
  }

  @Test
  void resumeRefusesAnotherAccounting() throws Exception {
    Kbx.Result result =
        Kbx.here(
            "eval",
            folder.resolve("kernels"),
            "--device",
            "cpu",
            "--seed",
            Kbx.SEED,
            "--resume",
            "--no-published-accounting",
            "--out",
            folder.resolve("published"));
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains("with published accounting", "--no-published-accounting");
  }
}
