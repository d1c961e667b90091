package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Kernels that are right by luck: what they do to memory decides, unless it is switched off. */
class MemoryChecksTest {
  private static final String REFERENCE =
      """
      import torch

      # inputs: f32[50, 37]
      def running_sums(x):
          return x.sum(1).cumsum(0)
      """;

  /** Each program adds up its row, then what rows before it have. */
  private static final String KERNEL =
      """
      import torch
      import triton
      import triton.language as tl


      @triton.jit
      def running_sums_kernel(x, y, sums, n, BLOCK: tl.constexpr):
          row = tl.program_id(0)
          i = tl.arange(0, BLOCK)
          mine = tl.sum(LOADED, 0)
          ADDED_UP


      def running_sums(x):
          y = torch.zeros(x.shape[0], device=x.device)
          sums = torch.zeros(1, device=x.device)
          running_sums_kernel[(x.shape[0],)](x.contiguous(), y, sums, x.shape[1], BLOCK=64)
          return y
      """;

  private static final String MASKED = "tl.load(x + row * n + i, mask=i < n, other=0.0)";
  private static final String TO_LATER_ROWS =
      "for to in range(row, tl.num_programs(0)): tl.atomic_add(y + to, mine)";

  private static final Map<String, String> SOURCES =
      Map.of(
          "honest",
          kernel(MASKED, TO_LATER_ROWS),
          "unmasked",
          kernel("tl.where(i < n, tl.load(x + row * n + i), 0.0)", TO_LATER_ROWS),
          "without_other",
          kernel("tl.load(x + row * n + i, mask=i < n)", TO_LATER_ROWS),
          "without_atomic",
          kernel(MASKED, "tl.store(sums, tl.load(sums) + mine); tl.store(y + row, tl.load(sums))"),
          "in_order",
          kernel(MASKED, "tl.store(y + row, tl.atomic_add(sums, mine) + mine)"));

  @TempDir private static Path folder;

  private static final Map<String, JsonNode> ON = new HashMap<>();
  private static final Map<String, JsonNode> OFF = new HashMap<>();

  private static String kernel(String loaded, String addedUp) {
    return KERNEL.replace("LOADED", loaded).replace("ADDED_UP", addedUp);
  }

  @BeforeAll
  static void judge() throws Exception {
    Files.writeString(folder.resolve("reference.py"), REFERENCE);
    for (var source : SOURCES.entrySet()) {
      Files.writeString(folder.resolve(source.getKey() + ".py"), source.getValue());
    }
    judge(ON, "on");
    judge(OFF, "off");
  }

  private static void judge(Map<String, JsonNode> into, String checks) throws Exception {
    Kbx.Result result = eval(checks, "--out", folder.resolve(checks));
    assertThat(result.exit()).as(result.err()).isZero();
    for (JsonNode verdict : result.json().get("verdicts")) {
      Path file = Objects.requireNonNull(Path.of(verdict.get("source").asString()).getFileName());
      into.put(file.toString().replace(".py", ""), verdict);
    }
  }

  private static Kbx.Result eval(String checks, Object... more) throws Exception {
    List<Object> arguments = new ArrayList<>(List.of("eval"));
    SOURCES.keySet().stream()
        .sorted()
        .map(each -> folder.resolve(each + ".py"))
        .forEach(arguments::add);
    arguments.addAll(List.of("--reference", folder.resolve("reference.py"), "--device", "cpu"));
    arguments.addAll(List.of("--json", "--seed", Kbx.SEED, "--memory-checks", checks));
    arguments.addAll(List.of(more));
    return Kbx.here(arguments.toArray());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "honest         | correct         | ",
        "unmasked       | out_of_bounds   | reads up to 108 bytes behind the end of x",
        "without_other  | undefined_value | line 10 loads under a mask without `other`",
        "without_atomic | race            | sums",
        "in_order       | order_dependent | its programs ran in",
      })
  void whatALaunchDoesToMemoryDecides(String name, String status, String words) {
    JsonNode verdict = Objects.requireNonNull(ON.get(name));
    assertThat(verdict.get("status").asString()).as(verdict.toString()).isEqualTo(status);
    assertThat(verdict.get("call_ok").asBoolean()).isTrue();
    JsonNode unchecked = Objects.requireNonNull(OFF.get(name));
    assertThat(verdict.get("exe_ok").asBoolean())
        .as("right by the published rules, which do not look at memory")
        .isEqualTo(unchecked.get("status").asString().equals("correct"));
    if (words != null) assertThat(verdict.get("message").asString()).contains(words);
    assertThat(verdict.get("flags").toString()).doesNotContain("memory_unchecked");
  }

  @ParameterizedTest
  @CsvSource({
    "honest, correct",
    "unmasked, correct",
    "without_other, wrong_values",
    "without_atomic, wrong_values",
    "in_order, correct"
  })
  void withoutChecksTheResultAloneDecides(String name, String status) {
    JsonNode verdict = Objects.requireNonNull(OFF.get(name));
    assertThat(verdict.get("status").asString()).as(verdict.toString()).isEqualTo(status);
    assertThat(verdict.get("flags").toString()).contains("memory_unchecked");
  }

  @ParameterizedTest
  @CsvSource({"on, false", "off, true"})
  void reportSaysThatChecksWereOff(String checks, boolean said) throws Exception {
    String page = Files.readString(folder.resolve(checks).resolve("report.html"));
    assertThat(page.contains("--memory-checks off")).isEqualTo(said);
  }

  /** Each failure is in its file, at the line that the message names. */
  @Test
  void failuresAreSarif() throws Exception {
    Path sarif = folder.resolve("sarif");
    Kbx.Result result = Kbx.here("export", "sarif", sarif, "--out", folder.resolve("on"));
    assertThat(result.exit()).as(result.err()).isZero();
    JsonNode run =
        Json.mapper().readTree(Files.readString(sarif.resolve("verdicts.sarif"))).at("/runs/0");
    List<String> found = new ArrayList<>();
    for (JsonNode each : run.get("results")) {
      JsonNode place = each.at("/locations/0/physicalLocation");
      String uri = place.at("/artifactLocation/uri").asString();
      String rule = each.get("ruleId").asString();
      assertThat(run.at("/tool/driver/rules/" + each.get("ruleIndex").asInt() + "/id").asString())
          .isEqualTo(rule);
      found.add(
          "%s %s:%s"
              .formatted(
                  rule, uri.substring(uri.lastIndexOf('/') + 1), place.at("/region/startLine")));
    }
    assertThat(found)
        .containsExactlyInAnyOrder(
            "order_dependent in_order.py:1",
            "out_of_bounds unmasked.py:10",
            "race without_atomic.py:11",
            "undefined_value without_other.py:11");
  }

  @Test
  void runKeepsItsChecks() throws Exception {
    Kbx.Result other = eval("on", "--out", folder.resolve("off"), "--resume");
    assertThat(other.exit()).isEqualTo(1);
    assertThat(other.err()).contains("--memory-checks off").contains("--memory-checks on");
  }

  @Test
  void checksAreOnOrOff() throws Exception {
    Kbx.Result neither = eval("maybe", "--out", folder.resolve("neither"));
    assertThat(neither.exit()).isEqualTo(1);
    assertThat(neither.err().strip()).endsWith("--memory-checks: 'maybe' is not one of on,off");
  }
}
