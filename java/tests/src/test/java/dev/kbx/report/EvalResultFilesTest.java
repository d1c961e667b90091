package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

class EvalResultFilesTest {
  private static final String KERNELBENCHS_OWN =
      """
      {"19": [{"sample_id": 0, "compiled": true, "correctness": true,
               "metadata": {"hardware": "H100", "device": "cuda:0"}, "runtime": 1.5}]}
      """;

  /** All of which KernelBench's analysis expects of every sample. */
  private static final List<String> FIELDS =
      List.of("sample_id", "compiled", "correctness", "metadata", "runtime", "runtime_stats");

  @TempDir private Path folder;

  /** A verdict of the fixtures as one of the KernelBench suite, with a single size. */
  private static Verdict kernelbench(Verdict verdict) {
    ObjectNode json = Json.mapper().valueToTree(verdict);
    json.put("suite", "kernelbench");
    if (json.get("sizes") instanceof ArrayNode sizes) while (sizes.size() > 1) sizes.remove(1);
    return Json.mapper().treeToValue(json, Verdict.class);
  }

  private static Verdict passed(String task, int sample, Device device) {
    return kernelbench(Fixtures.passed(task, sample, "run/" + sample + ".py", device, 0));
  }

  private static Verdict failed(String task, int sample, Status status, Stage stage) {
    var draft = Fixtures.failed(task, sample, status, stage).message("it " + status.label());
    if (status == Status.REJECTED_STATIC) draft = draft.rule("torch-computation");
    if (status == Status.CHEATING || status == Status.NOT_A_KERNEL)
      draft = draft.evidence("policy: torch.relu");
    return kernelbench(draft.build(Fixtures.H200));
  }

  private void finish(Verdict... verdicts) {
    try (var files = new ResultFiles(folder)) {
      var run = Fixtures.run(Fixtures.CPU, verdicts.length, 250);
      files.finish(
          run,
          RunVerdicts.of(List.of(verdicts)),
          Fixtures.asked(run, List.of(verdicts)),
          Fixtures::source,
          List.of(),
          null);
    }
  }

  private List<String> written() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.startsWith("eval_"))
          .sorted()
          .toList();
    }
  }

  private JsonNode read(String file) throws IOException {
    return Json.mapper().readTree(Files.readString(folder.resolve(file)));
  }

  @Test
  void candidatesAreKeyedByProblemNumber() throws IOException {
    finish(
        passed("level1/100_HingeLoss", 0, Fixtures.H200),
        failed("level1/19_ReLU", 7, Status.WRONG_VALUES, Stage.CORRECT),
        passed("level1/19_ReLU", 2, Fixtures.H200));
    assertThat(written()).containsExactly("eval_results.json");
    JsonNode results = read("eval_results.json");
    assertThat(results.propertyNames()).containsExactly("19", "100");
    assertThat(results.get("19").values())
        .extracting(entry -> entry.get("sample_id").intValue())
        .containsExactly(2, 7);
    assertThat(results.get("100").size()).isEqualTo(1);
  }

  @Test
  void aTimedCandidateHasARuntime() throws IOException {
    finish(passed("level1/19_ReLU", 0, Fixtures.H200));
    JsonNode entry = read("eval_results.json").get("19").get(0);
    assertThat(entry.propertyNames()).containsExactlyElementsOf(FIELDS);
    assertThat(unknown(entry)).isEmpty();
    assertThat(entry.get("compiled").booleanValue()).isTrue();
    assertThat(entry.get("correctness").booleanValue()).isTrue();
    assertThat(entry.get("runtime").doubleValue()).isEqualTo(0.021);
    assertThat(entry.get("runtime_stats").toString())
        .isEqualTo("{\"median\":0.021,\"num_trials\":24}");
    JsonNode metadata = entry.get("metadata");
    assertThat(metadata.propertyNames())
        .containsExactly("hardware", "device", "correctness_trials", "kbx");
    assertThat(metadata.get("hardware").stringValue()).isEqualTo("NVIDIA H200");
    assertThat(metadata.get("device").stringValue()).isEqualTo("cuda");
    assertThat(metadata.get("correctness_trials").stringValue()).isEqualTo("(5 / 5)");
    assertThat(metadata.get("kbx").get("status").stringValue()).isEqualTo("correct");
    assertThat(metadata.get("kbx").get("source").stringValue()).isEqualTo("run/0.py");
  }

  @Test
  void withoutTimingThereIsNoRuntime() throws IOException {
    finish(passed("level1/19_ReLU", 0, Fixtures.CPU));
    JsonNode entry = read("eval_results.json").get("19").get(0);
    assertThat(entry.propertyNames()).containsExactlyElementsOf(FIELDS);
    assertThat(entry.get("runtime").doubleValue()).isEqualTo(-1);
    assertThat(entry.get("runtime_stats").toString()).isEqualTo("{}");
    assertThat(unknown(entry)).containsExactly("runtime");
    assertThat(entry.get("metadata").get("device").stringValue()).isEqualTo("cpu");
  }

  /** Empty cells are not known: false, as KernelBench writes of what failed, and named. */
  @ParameterizedTest
  @CsvSource({
    "WRONG_VALUES,    CORRECT, true,  false",
    "RUNTIME_ERROR,   CALL,    true,  ",
    "CHEATING,        PERF,    true,  false",
    "WRONG_VALUES,    PERF,    true,  false",
    "WRONG_SHAPE,     PERF,    true,  false",
    "NONDETERMINISTIC,PERF,    true,  false",
    "INPUT_MUTATED,   PERF,    true,  false",
    "CHEATING,        CALL,    ,      false",
    "NOT_A_KERNEL,    CORRECT, true,  false",
    "COMPILE_ERROR,   COMPILE, false, ",
    "IMPORT_ERROR,    CALL,    false, ",
    "REJECTED_STATIC, STATIC,  false, ",
    "TIMEOUT,         CALL,    ,      ",
    "CRASHED,         CALL,    ,      ",
    "INFRASTRUCTURE,  CALL,    ,      ",
  })
  void failuresHaveTheStagesReached(
      Status status, Stage stage, @Nullable Boolean compiled, @Nullable Boolean correct)
      throws IOException {
    finish(failed("level2/3_Gemm", 0, status, stage));
    JsonNode entry = read("eval_results.json").get("3").get(0);
    assertThat(entry.propertyNames()).containsExactlyElementsOf(FIELDS);
    assertThat(flag(entry, "compiled")).isEqualTo(compiled);
    assertThat(flag(entry, "correctness")).isEqualTo(correct);
    assertThat(entry.get("runtime").doubleValue()).isEqualTo(-1);
    assertThat(unknown(entry)).contains("runtime");
    assertThat(entry.get("metadata").has("correctness_trials")).isFalse();
    JsonNode ours = entry.get("metadata").get("kbx");
    assertThat(ours.get("status").stringValue()).isEqualTo(status.label());
    assertThat(ours.get("message").stringValue()).isEqualTo("it " + status.label());
  }

  /** What is known of a field; one that is not must be false all the same. */
  private static @Nullable Boolean flag(JsonNode entry, String name) {
    boolean value = entry.get(name).booleanValue();
    if (!unknown(entry).contains(name)) return value;
    assertThat(value).isFalse();
    return null;
  }

  private static List<String> unknown(JsonNode entry) {
    return entry.get("metadata").get("kbx").get("unknown").values().stream()
        .map(JsonNode::stringValue)
        .toList();
  }

  @Test
  void eachLevelHasAFileAndEarlierFilesAreRemoved() throws IOException {
    finish(passed("level1/1_Square", 0, Fixtures.CPU));
    finish(passed("level1/1_Square", 0, Fixtures.CPU), passed("level3/1_MLP", 0, Fixtures.CPU));
    assertThat(written()).containsExactly("eval_results_level1.json", "eval_results_level3.json");
    assertThat(read("eval_results_level3.json").propertyNames()).containsExactly("1");
    finish(passed("level3/1_MLP", 0, Fixtures.CPU));
    assertThat(written()).containsExactly("eval_results.json");
    finish(Fixtures.passed("Activation/gelu", 0, "gelu.py", Fixtures.CPU, 0));
    assertThat(written()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {"{}", "[]", "{'19': [", "no JSON", "{'kbx': {'kbx': 1}}"})
  void foreignFileIsReportedAndKept(String text) throws IOException {
    Path file = folder.resolve("eval_results.json");
    for (String foreign : List.of(KERNELBENCHS_OWN, text.replace('\'', '"'))) {
      Files.writeString(file, foreign);
      assertThat(new EvalResultFiles(folder).inTheWay("kernelbench")).contains(file);
      assertThat(new EvalResultFiles(folder).inTheWay("kernelbenchx")).isEmpty();
      finish(Fixtures.passed("Activation/gelu", 0, "gelu.py", Fixtures.CPU, 0));
      assertThat(Files.readString(file)).isEqualTo(foreign);
    }
  }

  @Test
  void ownFileIsReplaced() {
    finish(failed("level1/19_ReLU", 0, Status.INFRASTRUCTURE, Stage.CALL));
    assertThat(new EvalResultFiles(folder).inTheWay("kernelbench")).isEmpty();
  }
}
