package dev.kbx.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.analysis.SelectedTasks;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.files.UnwritableException;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

class ResultFilesTest {
  private static final List<Verdict> ON_CPU = Fixtures.examples(Fixtures.CPU);
  private static final List<Verdict> ON_GPU = Fixtures.examples(Fixtures.H200);

  @TempDir Path folder;

  @Test
  void eachVerdictIsWrittenAtOnceAsALine() throws IOException {
    try (var files = new ResultFiles(folder.resolve("a/b"))) {
      for (int i = 0; i < ON_CPU.size(); i++) {
        files.append(ON_CPU.get(i));
        assertThat(read(files.results())).hasSize(i + 1);
      }
      assertThat(read(files.results())).isEqualTo(ON_CPU);
    }
  }

  @Test
  void concurrentLinesAreNotInterleaved() throws Exception {
    try (var files = new ResultFiles(folder)) {
      var threads = new ArrayList<Thread>();
      for (Verdict verdict : ON_CPU) {
        threads.add(Thread.ofVirtual().start(() -> files.append(verdict)));
      }
      for (Thread thread : threads) thread.join();
      assertThat(read(files.results())).containsExactlyInAnyOrderElementsOf(ON_CPU);
    }
  }

  @Test
  void rewritingDropsTheHalfLineOfAKilledRun() throws IOException {
    Files.writeString(folder.resolve("results.jsonl"), "{\"run\":\"20261121T0635");
    try (var files = new ResultFiles(folder)) {
      files.rewrite(lines ->
          ON_CPU.subList(0, 3).forEach(v -> lines.accept(Json.mapper().writeValueAsString(v))));
      files.append(ON_CPU.get(3));
      assertThat(read(files.results())).isEqualTo(ON_CPU.subList(0, 4));
    }
    assertThat(names(folder)).containsExactly("results.jsonl");
  }

  @Test
  void metricsHaveKernelBenchXsFields() throws IOException {
    JsonNode metrics = finish(ON_GPU, Fixtures.H200, "metrics.json");
    assertThat(metrics.propertyNames()).contains("Activation/gelu.py", "Activation/gelu.py#1");
    JsonNode gelu = metrics.get("Activation/gelu.py");
    assertThat(gelu.propertyNames())
        .containsExactly(
            "file",
            "call_ok",
            "exe_ok",
            "perf_ok",
            "dtype",
            "runtime_ms",
            "gbs",
            "tflops",
            "speedup",
            "maintainability",
            "code_quality",
            "performance",
            "error",
            "code");
    assertThat(gelu.get("perf_ok").booleanValue()).isTrue();
    assertThat(gelu.get("runtime_ms").doubleValue()).isCloseTo(0.126, within(1e-9));
    assertThat(gelu.get("gbs").doubleValue()).isBetween(1831.0, 1833.0);
    assertThat(gelu.get("tflops").stringValue()).isEqualTo("N/A");
    assertThat(gelu.get("code").stringValue()).contains("gelu_kernel");
    JsonNode size = gelu.get("performance").get(0);
    assertThat(size.propertyNames())
        .containsExactly("input_size", "ms", "GB/s", "TFLOPS", "peak_bytes");
    JsonNode wrong = metrics.get("Activation/gelu.py#1");
    assertThat(wrong.get("file").stringValue()).isEqualTo("Activation/gelu.py");
    assertThat(wrong.get("exe_ok").booleanValue()).isFalse();
    assertThat(wrong.get("speedup").stringValue()).isEqualTo("N/A");
    assertThat(wrong.get("error").stringValue()).contains("21 of 1,003");
  }

  @Test
  void unmeasuredStageIsNullNotFalse() throws IOException {
    JsonNode metrics = finish(ON_CPU, Fixtures.CPU, "metrics.json");
    assertThat(metrics.get("Activation/gelu.py").get("perf_ok").isNull()).isTrue();
    assertThat(metrics.get("Activation/gelu.py").get("runtime_ms").stringValue()).isEqualTo("N/A");
    assertThat(metrics.get("Reduce/logsumexp.py#1").get("exe_ok").booleanValue()).isFalse();
    assertThat(metrics.get("SpatialOps/grid_sample.py").get("call_ok").isNull()).isTrue();
  }

  @Test
  void summaryWithoutGpuHasNoSpeedupsAndAReason() throws IOException {
    JsonNode summary = finish(ON_CPU, Fixtures.CPU, "summary.json");
    assertThat(summary.get("total").intValue()).isEqualTo(26);
    assertThat(summary.get("call_pass").intValue()).isEqualTo(18);
    assertThat(summary.get("exe_pass").intValue()).isEqualTo(16);
    assertThat(summary.get("exe_rate").doubleValue()).isEqualTo(61.5);
    assertThat(summary.propertyNames())
        .doesNotContain(
            "perf_pass",
            "perf_rate",
            "avg_speedup",
            "avg_speedup_global",
            "avg_speedup_per_task",
            "speedup");
    assertThat(summary.get("perf").stringValue()).contains("not measured", "no GPU");
    assertThat(summary.get("coverage").get("tasks_in_suite").intValue()).isEqualTo(20);
    assertThat(summary.get("coverage").get("tasks_submitted").intValue()).isEqualTo(18);
    assertThat(summary.get("not_judged").intValue()).isEqualTo(1);
    assertThat(summary.get("by_status").get("wrong_values").intValue()).isEqualTo(1);
    assertThat(summary.get("problems").get(0).stringValue()).contains("bad.jsonl:3");
    JsonNode exe = summary.get("suite_rates").get("exe");
    assertThat(exe.get("pass").intValue()).isEqualTo(16);
    assertThat(exe.get("of").intValue()).isEqualTo(20);
    assertThat(exe.get("low").doubleValue()).isEqualTo(58.4);
    assertThat(exe.get("high").doubleValue()).isEqualTo(91.9);
  }

  @Test
  void summaryWithGpuHasSpeedups() throws IOException {
    JsonNode summary = finish(ON_GPU, Fixtures.H200, "summary.json");
    assertThat(summary.get("perf_pass").intValue()).isEqualTo(16);
    assertThat(summary.propertyNames()).doesNotContain("perf");
    JsonNode speedup = summary.get("speedup");
    assertThat(speedup.get("candidates").intValue()).isEqualTo(16);
    double mean = speedup.get("geometric_mean").doubleValue();
    assertThat(mean).isBetween(speedup.get("low").doubleValue(), speedup.get("high").doubleValue());
    assertThat(summary.get("avg_speedup_per_task").doubleValue()).isGreaterThan(mean);
    assertThat(speedup.get("slower").intValue()).isEqualTo(4);
  }

  /** Published tests look at no timed call: what these refute is correct by their rules alone. */
  @ParameterizedTest
  @CsvSource({
    "WRONG_VALUES, for what was found while they were timed",
    "CHEATING, for what was found while they were timed",
    "NOT_A_KERNEL, whose own kernels did not compute the result",
    "INPUT_MUTATED, for what was found while they were timed",
    "TIMEOUT, for what was found while they were timed",
    "CRASHED, for what was found while they were timed"
  })
  void candidateRefutedByTimedCallsIsCorrectByPublishedRulesAlone(Status status, String why)
      throws IOException {
    var draft = Fixtures.failed("Math/exp", 0, status, Stage.PERF).evidence("replay");
    List<Verdict> verdicts = List.of(draft.build(Fixtures.H200));
    JsonNode summary = finish(verdicts, Fixtures.H200, "summary.json");
    assertThat(summary.get("call_pass").intValue()).isEqualTo(1);
    assertThat(summary.get("exe_pass").intValue()).isEqualTo(1);
    assertThat(summary.get("perf_pass").intValue()).isZero();
    JsonNode suite = summary.get("suite_rates");
    assertThat(suite.get("exe").get("pass").intValue()).isEqualTo(1);
    assertThat(suite.get("correct").get("pass").intValue()).isZero();
    JsonNode rates = summary.get("by_category").get(0).get("rates");
    assertThat(rates.get("exe").get("pass").intValue()).isEqualTo(1);
    JsonNode metrics = finish(verdicts, Fixtures.H200, "metrics.json").get("Math/exp.py");
    assertThat(metrics.get("exe_ok").booleanValue()).isTrue();
    assertThat(metrics.get("error").stringValue()).contains("replay");
    assertThat(Files.readString(folder.resolve("report.html")))
        .contains(
            "0 of 1 tasks tried have a correct candidate",
            "By the published rules 1 of 1 candidate would be correct. kbx refuses 1 " + why + ".");
  }

  @Test
  void reportSaysWhoseOriginIsTheirOwnWord() throws IOException {
    List<Verdict> verdicts =
        List.of(
            Fixtures.failed("Math/exp", 0, Status.CORRECT, Stage.CORRECT)
                .flags("unproven_origin")
                .build(Fixtures.H200),
            Fixtures.failed("Math/log", 0, Status.CORRECT, Stage.CORRECT).build(Fixtures.H200));
    var _ = finish(verdicts, Fixtures.H200, "summary.json");
    assertThat(Files.readString(folder.resolve("report.html")))
        .contains("Of 1 of 2 correct candidates only their own process says who computed");
  }

  @ParameterizedTest
  @CsvSource({"refined, refined", ", run"})
  void methodIsNamedIfTheSourceNamesIt(@Nullable String method, String named) throws IOException {
    List<Verdict> verdicts = List.of(by(method, null, null, 0), by(method, null, null, 1));
    String said = finish(verdicts, Fixtures.H200, "summary.json").get("method").stringValue();
    assertThat(said.equals("refined")).isEqualTo(named.equals("refined"));
  }

  /** Two methods by two models; one of them refines, and one has a second sample. */
  @Test
  void eachMethodAndModelHasItsOwnFilesWithPublishedKeys() throws IOException {
    List<Verdict> verdicts =
        List.of(
            by("single", "gpt", null, 0),
            by("single", "gpt", null, 1),
            by("single", "qwen2.5", null, 0),
            by("refine", "gpt", 0, 0),
            by("refine", "gpt", 2, 0),
            by("refine", "gpt", 1, 0));
    JsonNode metrics = finish(verdicts, Fixtures.H200, "metrics.refine.gpt.json");
    assertThat(names(folder))
        .containsExactlyInAnyOrder(
            "results.jsonl",
            "report.html",
            "metrics.refine.gpt.json",
            "summary.refine.gpt.json",
            "metrics.single.gpt.json",
            "summary.single.gpt.json",
            "metrics.single.qwen2.5.json",
            "summary.single.qwen2.5.json");
    assertThat(metrics.propertyNames()).containsExactly("Math/exp.py");
    assertThat(metrics.get("Math/exp.py").get("code").stringValue()).contains("refine gpt 2 0.py");
    assertThat(read("metrics.single.gpt.json").propertyNames()).containsExactly("Math/exp.py");
    JsonNode summary = read("summary.refine.gpt.json");
    assertThat(summary.get("method").stringValue()).isEqualTo("refine");
    assertThat(summary.get("model").stringValue()).isEqualTo("gpt");
    assertThat(summary.get("total").intValue()).isEqualTo(1);
    assertThat(summary.get("exe_pass").intValue()).isEqualTo(1);
    assertThat(summary.get("problems").size()).isEqualTo(1);
    assertThat(Files.readString(folder.resolve("report.html")))
        .contains("kbx.db the sources")
        .doesNotContain("metrics.json");
  }

  @Test
  void absentModelOrMethodIsNotPartOfFileNames() throws IOException {
    finish(
        List.of(by(null, "a", null, 0), by(null, "b", null, 0)), Fixtures.H200, "summary.a.json");
    assertThat(read("summary.b.json").get("model").stringValue()).isEqualTo("b");
    finish(
        List.of(by("a", null, null, 0), by(null, null, null, 0)), Fixtures.H200, "summary.a.json");
    assertThat(read("summary.none.json").has("model")).isFalse();
    assertThat(names(folder)).as("of other candidates").doesNotContain("summary.b.json");
  }

  /** A run that candidates join has plain files until there is a second model. */
  @Test
  void outdatedFilesAreRemoved() throws IOException {
    finish(List.of(by("a", null, null, 0)), Fixtures.H200, "metrics.json");
    finish(
        List.of(by("a", null, null, 0), by("b", null, null, 0)), Fixtures.H200, "metrics.a.json");
    assertThat(names(folder)).doesNotContain("metrics.json", "summary.json");
    finish(List.of(by("a", null, null, 0)), Fixtures.H200, "metrics.json");
    assertThat(names(folder)).hasSize(4);
  }

  /** Who refines hands in the last round. */
  @Test
  void lastRoundIsTheAnswer() throws IOException {
    List<Verdict> verdicts =
        List.of(by("a", "m", 1, 0), by("a", "m", 0, 0), by("a", "m", 0, 1), by("a", "m", 2, 1));
    JsonNode metrics = finish(verdicts, Fixtures.H200, "metrics.json");
    assertThat(metrics.propertyNames()).containsExactly("Math/exp.py", "Math/exp.py#1");
    assertThat(metrics.get("Math/exp.py").get("code").stringValue()).contains("a m 1 0.py");
    assertThat(metrics.get("Math/exp.py#1").get("code").stringValue()).contains("a m 2 1.py");
    assertThat(read("summary.json").get("total").intValue()).isEqualTo(2);
  }

  @Test
  void fileNamesAreSafeAndDistinct() throws IOException {
    List<String> models =
        List.of(
            "../../etc/passwd",
            "a/b",
            "a%2Fb",
            "a b",
            "a+b",
            "A/b",
            "..",
            "",
            "none",
            "%6eone",
            "深度求索",
            "\ud83d\ude80",
            "nul\u0000\n",
            "?",
            "\ud800",
            "\ud801",
            "deepseek-ai/DeepSeek-V3.1",
            "m".repeat(300) + "1",
            "m".repeat(300) + "2",
            "x".repeat(80),
            "x".repeat(81));
    List<Verdict> verdicts = new ArrayList<>();
    verdicts.add(by(null, null, null, 0));
    for (String model : models) verdicts.add(by(null, model, null, 0));
    finish(verdicts, Fixtures.H200, "summary.deepseek-ai%2FDeepSeek-V3.1.json");
    List<String> names = names(folder);
    assertThat(names).hasSize(2 + 2 * verdicts.size());
    assertThat(names).allMatch(name -> name.length() < 200 && name.matches("[\\w.%~-]+"));
    for (String name : names) {
      if (!name.startsWith("summary")) continue;
      JsonNode summary = read(name);
      assertThat(summary.get("total").intValue()).isEqualTo(1);
      if (!summary.has("model")) assertThat(name).isEqualTo("summary.none.json");
    }
  }

  private static Verdict by(
      @Nullable String method, @Nullable String model, @Nullable Integer round, int sample) {
    String source = "%s %s %s %d.py".formatted(method, model, round, sample);
    ObjectNode json =
        Json.mapper().valueToTree(Fixtures.passed("Math/exp", sample, source, Fixtures.H200, 0));
    json.put("method", method).put("model", model).put("round", round);
    return Json.mapper().treeToValue(json, Verdict.class);
  }

  private JsonNode read(String file) throws IOException {
    return Json.mapper().readTree(Files.readString(folder.resolve(file)));
  }

  /** Compiling makes the reference 1.25 times as fast: both averages are against that. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "eager; 0.6",
        "compile; 0.48",
        "best (compile); 0.48",
        "eager, warm cache; 0.6",
        "best (compile), warm cache; 0.48"
      })
  void averagesAreAgainstTheRequestedBaseline(String baseline, double average) throws IOException {
    Verdict verdict = Fixtures.passed("Math/exp", 0, "exp.py", Fixtures.H200, 0);
    List<Verdict> verdicts = List.of(against(baseline, average, verdict));
    JsonNode summary = finish(verdicts, Fixtures.H200, "summary.json");
    assertThat(summary.get("avg_speedup").doubleValue()).isEqualTo(average);
    assertThat(summary.get("avg_speedup_global").doubleValue()).isEqualTo(average);
    assertThat(summary.get("avg_speedup_per_task").doubleValue()).isEqualTo(average);
  }

  @Test
  void anAverageAgainstABaselineOfUnknownTimesIsAbsent() throws IOException {
    Verdict verdict = Fixtures.passed("Math/exp", 0, "exp.py", Fixtures.H200, 8);
    List<Verdict> verdicts = List.of(against("compile", 2, verdict));
    JsonNode summary = finish(verdicts, Fixtures.H200, "summary.json");
    assertThat(summary.has("avg_speedup")).isFalse();
    assertThat(summary.get("avg_speedup_per_task").doubleValue()).isEqualTo(2);
  }

  private static Verdict against(String baseline, double speedup, Verdict verdict) {
    ObjectNode json = Json.mapper().valueToTree(verdict);
    ((ObjectNode) json.get("speedup")).put("baseline", baseline).put("value", speedup);
    return Json.mapper().treeToValue(json, Verdict.class);
  }

  /** Twenty samples of one task are one speedup more, not twenty. */
  @Test
  void taskOfManyCandidatesCountsAsOneSpeedup() throws IOException {
    List<Verdict> verdicts = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      verdicts.add(Fixtures.passed("Math/exp", i, i + ".py", Fixtures.H200, 0));
    }
    verdicts.add(Fixtures.passed("Math/log", 0, "log.py", Fixtures.H200, 8));
    JsonNode speedup = finish(verdicts, Fixtures.H200, "summary.json").get("speedup");
    assertThat(speedup.get("candidates").intValue()).isEqualTo(21);
    assertThat(speedup.get("tasks").intValue()).isEqualTo(2);
    assertThat(speedup.get("geometric_mean").doubleValue()).isCloseTo(1.249, within(1e-9));
    assertThat(speedup.get("low").doubleValue()).isCloseTo(0.6, within(1e-9));
    assertThat(speedup.get("high").doubleValue()).isCloseTo(2.6, within(1e-9));
    assertThat(speedup.get("median").doubleValue()).isCloseTo(1.6, within(1e-9));
    assertThat(speedup.get("slower").intValue()).isEqualTo(1);
    assertThat(Files.readString(folder.resolve("report.html")))
        .contains("over 2 tasks, 21 candidates", "1 of 2 tasks slower than 1×");
  }

  /** One published task of two has a candidate, and so has a variant of it. */
  @Test
  void unpublishedVariantsAreInNoRate() throws IOException {
    List<Verdict> verdicts =
        List.of(
            Fixtures.passed("Math/mul", 0, "mul.py", Fixtures.H200, 1),
            Fixtures.passed("Math/mul_fp16", 0, "mul_fp16.py", Fixtures.H200, 8));
    RunInfo run = Fixtures.run(Fixtures.H200, 2, 2);
    var asked = SelectedTasks.named(Map.of("Math", Set.of("mul", "exp")));
    JsonNode summary = finish(run, verdicts, asked, "summary.json");
    assertThat(summary.get("total").intValue()).isEqualTo(2);
    assertThat(summary.get("extra").intValue()).isEqualTo(1);
    assertThat(summary.get("coverage").toString())
        .isEqualTo("{\"tasks_submitted\":1,\"tasks_in_suite\":2}");
    assertThat(summary.get("suite_rates").get("exe").get("pass").intValue()).isEqualTo(1);
    assertThat(summary.get("by_category").get(0).get("candidates").intValue()).isEqualTo(1);
    assertThat(summary.get("speedup").get("candidates").intValue()).isEqualTo(1);
    assertThat(summary.get("by_status").get("correct").intValue()).isEqualTo(2);
    String table = new Table(100, false).render(run, RunVerdicts.of(verdicts), asked, "");
    assertThat(table)
        .contains("1 of 2 tasks of kernelbenchx have a candidate.")
        .contains("1 candidate is for a dtype variant outside the 2 published tasks; not counted.");
    assertThat(Files.readString(folder.resolve("report.html")))
        .contains("Tried: 1 of 2 tasks.")
        .contains("1 candidate is for a dtype variant outside the 2 published tasks");
  }

  /** The page says what came of the file, and summary.json keeps the suite. */
  @Test
  void namedFileIsNotCountedAgainstTheSuite() throws IOException {
    var failed =
        Fixtures.failed("Math/exp", 0, Status.WRONG_VALUES, Stage.CORRECT)
            .message("off by " + Fixtures.HOSTILE);
    List<Verdict> verdicts = List.of(failed.build(Fixtures.CPU));
    RunInfo run = Fixtures.run(Fixtures.CPU, 1, 20, List.of("exp.py"));
    JsonNode summary = finish(run, verdicts, Fixtures.asked(run, verdicts), "summary.json");
    assertThat(summary.get("coverage").get("tasks_in_suite").intValue()).isEqualTo(20);
    assertThat(Files.readString(folder.resolve("report.html")))
        .contains("<h1>Math/exp: wrong_values</h1>", "decided by the stage correct: off by &lt;/s")
        .doesNotContain("of 20 tasks", "Coverage", "asked for", "By category", "<img");
    List<Verdict> correct =
        List.of(Fixtures.passed("Math/exp", 0, "exp.py", Fixtures.H200, 2), verdicts.getFirst());
    RunInfo two = Fixtures.run(Fixtures.H200, 2, 20, List.of("exp.py", "other/exp.py"));
    finish(two, correct, Fixtures.asked(two, correct), "summary.json");
    assertThat(Files.readString(folder.resolve("report.html")))
        .contains("<h1>1 of 2 correct</h1>", "By status")
        .doesNotContain("of 20 tasks", "By category");
  }

  @Test
  void anEmptyRunHasNoRates() throws IOException {
    JsonNode summary = finish(List.of(), Fixtures.CPU, "summary.json");
    assertThat(summary.get("total").intValue()).isZero();
    assertThat(summary.propertyNames()).doesNotContain("call_rate", "exe_rate");
    assertThat(summary.get("suite_rates").get("exe").get("pass").intValue()).isZero();
  }

  @Test
  void finishingLeavesTheFourFilesOnly() throws IOException {
    finish(ON_CPU, Fixtures.CPU, "summary.json");
    finish(ON_CPU, Fixtures.CPU, "summary.json");
    assertThat(names(folder))
        .containsExactlyInAnyOrder("results.jsonl", "metrics.json", "summary.json", "report.html");
  }

  @Test
  void largeReportNamesTheRowsLeftOut() throws IOException {
    List<Verdict> many = Fixtures.many(12_000, Fixtures.CPU);
    JsonNode metrics = finish(many, Fixtures.CPU, "metrics.json");
    assertThat(metrics.propertyNames())
        .containsAll(
            VerdictRow.of(many).stream()
                .map(VerdictRow::name)
                .map(n -> n.replaceFirst("(#|$)", ".py$1"))
                .toList());
    String page = Files.readString(folder.resolve("report.html"));
    assertThat(page)
        .contains("The table has 10,000 of 12,000 candidates")
        .contains("results.jsonl, their sources in metrics.json");
    assertThat(page.lines().filter(line -> line.startsWith("<tr><th scope=\"row\">")))
        .hasSizeBetween(2_000, 2_030);
  }

  @Test
  void aFileInPlaceOfTheFolderIsNamed() throws IOException {
    Path file = Files.writeString(folder.resolve("taken"), "");
    assertThatExceptionOfType(UnwritableException.class)
        .isThrownBy(() -> new ResultFiles(file))
        .withMessageContaining("cannot write " + file)
        .withMessageContaining("taken: Not a folder");
  }

  @Test
  void aFolderThatCannotBeWrittenIsNamed() {
    Path proc = Path.of("/proc/kbx");
    Assumptions.assumeTrue(Files.isDirectory(Path.of("/proc")), "needs /proc");
    assertThatExceptionOfType(UnwritableException.class)
        .isThrownBy(() -> new ResultFiles(proc))
        .withMessageContaining("cannot write /proc/kbx: ");
  }

  @Test
  void aFullDiskIsNamedAndLeavesNoHalfLine() throws IOException {
    Path full = Path.of("/dev/full");
    Assumptions.assumeTrue(Files.exists(full), "needs /dev/full");
    Files.createSymbolicLink(folder.resolve("results.jsonl"), full);
    try (var files = new ResultFiles(folder)) {
      assertThatExceptionOfType(UnwritableException.class)
          .isThrownBy(() -> files.append(ON_CPU.getFirst()))
          .withMessageContaining("results.jsonl: No space left on device");
    }
  }

  /** Rounds are in results.jsonl; a page does not show them. */
  @Test
  void pageDataLeavesOutRounds() throws IOException {
    Verdict plain = Fixtures.passed("Math/exp", 0, "exp.py", Fixtures.H200, 14);
    ObjectNode json = Json.mapper().valueToTree(plain);
    for (JsonNode size : json.get("sizes")) ((ObjectNode) size).put("raw", "cm91bmRz");
    JsonNode compiled = json.get("baselines").get(json.get("baselines").size() - 1);
    ((ObjectNode) compiled).putArray("raw").add("cm91bmRz");
    Verdict verdict = Json.mapper().treeToValue(json, Verdict.class);
    finish(List.of(verdict), Fixtures.H200, "summary.json");
    String page = Files.readString(folder.resolve("report.html"));
    Matcher chunk = Pattern.compile("id=\"chunk-0\">([^<]*)<").matcher(page);
    assertThat(chunk.find()).isTrue();
    byte[] packed = Base64.getDecoder().decode(chunk.group(1));
    try (var details = new GZIPInputStream(new ByteArrayInputStream(packed))) {
      assertThat(new String(details.readAllBytes(), StandardCharsets.UTF_8))
          .contains("candidate_ms")
          .doesNotContain("cm91bmRz");
    }
  }

  private JsonNode finish(List<Verdict> verdicts, Verdict.Device device, String file)
      throws IOException {
    RunInfo run = Fixtures.run(device, verdicts.size(), 20);
    return finish(run, verdicts, Fixtures.asked(run, verdicts), file);
  }

  private JsonNode finish(RunInfo run, List<Verdict> verdicts, SelectedTasks asked, String file)
      throws IOException {
    try (var files = new ResultFiles(folder)) {
      files.finish(
          run,
          RunVerdicts.of(verdicts),
          asked,
          Fixtures::source,
          List.of("bad.jsonl:3: unknown task"),
          null);
    }
    return read(file);
  }

  private static List<Verdict> read(Path results) throws IOException {
    return Files.readAllLines(results).stream()
        .map(line -> Json.mapper().readValue(line, Verdict.class))
        .toList();
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(f -> f.getFileName().toString()).toList();
    }
  }
}
