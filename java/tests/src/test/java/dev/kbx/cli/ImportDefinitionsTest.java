package dev.kbx.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code kbx tasks import sol-execbench}, and what can be done with a suite that it made. */
class ImportDefinitionsTest {
  private static final Path DEFINITIONS =
      Kbx.home().resolve("java/tests/src/test/resources/definitions");

  private static final String KERNEL =
      """
      import torch
      import triton
      import triton.language as tl

      @triton.jit
      def kernel(x, shift, y, n, width, factor, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          moved = tl.load(shift + i // width, mask=i < n)
          tl.store(y + i, tl.load(x + i, mask=i < n) * factor + moved, mask=i < n)

      def run(x, factor, shift):
          x, y = x.contiguous(), torch.empty_like(x, memory_format=torch.contiguous_format)
          grid = (triton.cdiv(x.numel(), 256),)
          kernel[grid](x, shift.contiguous(), y, x.numel(), x.shape[1], FACTOR, BLOCK=256)
          return y
      """;

  private static final String LIBRARY =
      """
      import torch

      def run(x, factor, shift):
          return torch.addcmul(shift[:, None], x, torch.tensor(factor))
      """;

  @TempDir private static Path folder;

  private static JsonNode report;

  /** What the last command said about sources. */
  private static String said = "";

  @BeforeAll
  static void importOnce() {
    Kbx.Result result = imported("sol-execbench", "sol");
    assertThat(result.exit()).as(result.err()).isZero();
    report = result.json();
  }

  private static Kbx.Result imported(String format, String name) {
    return Kbx.here(
        "tasks",
        "import",
        format,
        DEFINITIONS.resolve(name),
        "--output",
        folder.resolve(name),
        "--device",
        "cpu",
        "--json");
  }

  @Test
  void everyDefinitionIsImportedOrExplained() {
    assertThat(report.get("files").asInt()).isEqualTo(7);
    assertThat(report.get("imported").values())
        .extracting(task -> task.get("category").asString() + "/" + task.get("name").asString())
        .containsExactly("sol-execbench/gather_rows", "elementwise/scale_w96");
    Map<String, String> reasons = new LinkedHashMap<>();
    for (JsonNode file : report.get("unusable")) {
      String name = parent(file.get("file").asString());
      reasons.put(name, file.get("reason").asString());
    }
    assertThat(reasons)
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "halves",
                "line 3 of its reference: the output 'y' is float32[4] for workload one; its"
                    + " definition says float32[h]",
                "noisy",
                "line 4 of its reference: run() draws random numbers (aten.randn_like.default),"
                    + " which another process cannot repeat",
                "packed",
                "the input 'x' is float4_e2m1fn_x2, which kbx neither sends to a candidate nor"
                    + " compares",
                "unclosed",
                "line 2 of its \"reference\": '(' was never closed: return (x",
                "untried",
                "no workload in a .jsonl file here is of untried"));
  }

  @Test
  void workloadsThatReadFilesAreLeftOutAndSaid() {
    assertThat(report.get("imported").values())
        .filteredOn(task -> task.get("name").asString().equals("scale_w96"))
        .extracting(task -> task.get("left_out").asString())
        .containsExactly(
            "1 of 4 workloads left out: recorded reads the input 'x' from x.safetensors, which is"
                + " not there");
  }

  @Test
  void aModelIsToldTheDefinition() {
    String prompt = Kbx.here("tasks", "show", "scale_w96", "--suite", suite(), "--prompt").out();
    assertThat(prompt)
        .contains(
            "Scales rows and shifts them.",
            "Inputs: `x: float32[rows, width]`, `factor: float32`, `shift: float32[rows]`.",
            "Outputs: `y: float32[rows, width]`, returned as a tensor.",
            "def run(x, factor, shift):",
            "return {\"y\": x * factor + shift[:, None]}",
            "Policy `mixed`");
  }

  @Test
  void candidatesAreJudgedOnTheWorkloads() throws Exception {
    Path candidates = folder.resolve("candidates");
    write(candidates.resolve("right/scale_w96.py"), KERNEL.replace("FACTOR", "factor"));
    write(candidates.resolve("wrong/scale_w96.py"), KERNEL.replace("FACTOR", "0.5"));
    write(candidates.resolve("cheat/scale_w96.py"), LIBRARY);
    Map<String, JsonNode> verdicts = new LinkedHashMap<>();
    judged(candidates).forEach((source, verdict) -> verdicts.put(parent(source), verdict));
    assertThat(status(verdicts, "right")).isEqualTo("correct");
    assertThat(requireNonNull(verdicts.get("right")).get("flags").values())
        .extracting(JsonNode::asString)
        .contains("scaled_inputs");
    // The first workload's factor is 0.5; another's is drawn.
    assertThat(status(verdicts, "wrong")).isEqualTo("wrong_values");
    assertThat(requireNonNull(verdicts.get("wrong")).get("message").asString())
        .contains("inputs=(f32[7, 96], ");
    assertThat(status(verdicts, "cheat")).isEqualTo("not_a_kernel");
  }

  /** A hundredth, where a workload states nothing else. */
  @Test
  void whatTheBenchmarksOwnTestAllowsIsTold() throws Exception {
    Path candidates = folder.resolve("near");
    write(candidates.resolve("scale_w96.py"), KERNEL.replace("FACTOR", "factor * 1.004"));
    JsonNode verdict = judged(candidates).values().iterator().next();
    assertThat(verdict.get("status").asString()).isEqualTo("wrong_values");
    assertThat(verdict.get("exe_ok").asBoolean()).isTrue();
    Object[] published = {
      "eval",
      candidates,
      "--suite",
      suite(),
      "--tolerance",
      "published",
      "--json",
      "--device",
      "cpu",
      "--out",
      folder.resolve("published")
    };
    assertThat(Kbx.here(published).json().at("/verdicts/0/status").asString()).isEqualTo("correct");
  }

  @Test
  void whatAWorkloadAllowsIsKept() throws Exception {
    assertThat(folder.resolve("sol/elementwise/scale_w96.py"))
        .content()
        .contains(
            "Workload(\"large\", {\"rows\": 40000000}, {\"factor\": 2},"
                + " tolerance={\"max_atol\": 1.0E-4, \"required_matched_ratio\": 0.99}),");
  }

  /** The verdicts by their sources. */
  private static Map<String, JsonNode> judged(Path candidates) throws Exception {
    Path out = candidates.resolveSibling(candidates.getFileName() + "-out");
    said = Kbx.here("eval", candidates, "--suite", suite(), "--device", "cpu", "--out", out).err();
    Map<String, JsonNode> verdicts = new LinkedHashMap<>();
    for (String line : Files.readAllLines(out.resolve("results.jsonl"))) {
      JsonNode verdict = new Kbx.Result(0, line, "").json();
      verdicts.put(verdict.get("source").asString(), verdict);
    }
    return verdicts;
  }

  @Test
  void solutionsAreJudgedAsTheyAreCalled() throws Exception {
    Path solutions = folder.resolve("solutions");
    Files.createDirectories(solutions);
    String returning = KERNEL.replace("FACTOR", "factor");
    String named = returning.replace("return y", "return {\"y\": y}").replace("run(", "scaled(");
    String writing =
        returning
            .replace("def run(x, factor, shift)", "def run(x, factor, shift, y)")
            .replaceFirst("x, y = .*", "x = x.contiguous()")
            .replace("    return y\n", "");
    solution("returning", returning, "triton", "kernel.py::run", false);
    solution("named", named, "triton", "kernel.py::scaled", false);
    solution("writing", writing, "python", "kernel.py::run", true);
    solution("wrong", writing.replace("* factor", "* 2"), "triton", "kernel.py::run", true);
    solution("misdescribed", writing, "triton", "kernel.py::run", false);
    solution("cheat", LIBRARY, "pytorch", "kernel.py::run", false);
    solution("cuda", "void run() {}", "cuda_cpp", "kernel.cu::run", true);
    solution("lost", returning, "triton", "kernel.py::scaled", false);
    solution("both", named + "\n\nrun = scaled\n", "triton", "kernel.py::scaled", false);
    write(solutions.resolve("kernel.py"), returning);
    write(
        solutions.resolve("workload.jsonl"),
        Files.readString(DEFINITIONS.resolve("sol/scale/workload.jsonl")));
    Map<String, String> statuses = new LinkedHashMap<>();
    judged(solutions)
        .forEach((source, verdict) ->
            statuses.put(
                Path.of(source).getFileName().toString(), verdict.get("status").asString()));
    assertThat(statuses)
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "returning.json",
                "correct",
                "named.json",
                "correct",
                "writing.json",
                "correct",
                "wrong.json",
                "wrong_values",
                "misdescribed.json",
                "runtime_error",
                "cheat.json",
                "not_a_kernel"));
    assertThat(said)
        .contains(
            "cuda.json: is written in cuda_cpp, which is not judged; Python files with kernels"
                + " are:",
            "lost.json: its entry point scaled() is not defined in kernel.py",
            "both.json: defines run() beside its entry point scaled(): rename it")
        .doesNotContain("workload.jsonl", "kernel.py: ");
  }

  private static void solution(
      String name, String code, String language, String entry, boolean writes) throws IOException {
    Map<String, Object> spec = new LinkedHashMap<>();
    spec.put("language", language);
    spec.put("target_hardware", List.of("LOCAL"));
    spec.put("entry_point", entry);
    if (!writes) spec.put("destination_passing_style", false);
    Map<String, Object> source =
        Map.of("path", entry.substring(0, entry.indexOf(':')), "content", code);
    write(
        folder.resolve("solutions/" + name + ".json"),
        JsonMapper.shared()
            .writeValueAsString(
                Map.of(
                    "name",
                    name,
                    "definition",
                    "scale_w96",
                    "author",
                    "somebody",
                    "spec",
                    spec,
                    "sources",
                    List.of(source))));
  }

  private static void program(String name, Map<String, String> files) throws IOException {
    List<Map<String, String>> sources =
        files.entrySet().stream()
            .map(file -> Map.of("path", file.getKey(), "content", file.getValue()))
            .toList();
    Map<String, Object> spec =
        Map.of(
            "language",
            "triton",
            "entry_point",
            "main.py::run",
            "destination_passing_style",
            false);
    write(
        folder.resolve("programs/" + name + ".json"),
        JsonMapper.shared()
            .writeValueAsString(
                Map.of(
                    "name",
                    name,
                    "definition",
                    "scale_w96",
                    "author",
                    "somebody",
                    "spec",
                    spec,
                    "sources",
                    sources)));
  }

  @Test
  void solutionsOfSeveralFilesAreJoined() throws Exception {
    int run = KERNEL.indexOf("def run");
    String kernel = KERNEL.substring(0, run);
    String caller = KERNEL.substring(run).replace("FACTOR", "factor").replace("kernel[", "own[");
    String head = "import torch\nimport triton\n";
    String sizes = "from __future__ import annotations\n\nBLOCKS: int = 256\n";
    String named = "from .sizes import BLOCKS\nfrom kernels.scaling import kernel as own\n";
    program(
        "joined",
        Map.of(
            "main.py",
            head + named.replace(".sizes", "sizes") + "\n" + caller.replace("256", "BLOCKS"),
            "sizes.py",
            sizes,
            "kernels/scaling.py",
            kernel,
            "kernels/__init__.py",
            ""));
    program("module", Map.of("main.py", "import sizes\n" + caller, "sizes.py", sizes));
    program(
        "twice",
        Map.of(
            "main.py",
            "from sizes import BLOCKS\n\nhalf = 1\n" + caller,
            "sizes.py",
            sizes + "half = 2\n"));
    program("header", Map.of("main.py", caller, "kernel.cuh", "#pragma once\n"));
    Map<String, JsonNode> verdicts = judged(folder.resolve("programs"));
    assertThat(verdicts.values())
        .singleElement()
        .satisfies(verdict ->
            assertThat(verdict.get("status").asString()).as("%s", verdict).isEqualTo("correct"));
    assertThat(said)
        .contains(
            "module.json: imports another of its files as a module (main.py, line 1: import"
                + " sizes); names of it can be",
            "twice.json: defines half in sizes.py and in main.py: rename one",
            "header.json: has kernel.cuh, which is no Python file");
  }

  @Test
  void aRunIsExportedAsSolutionsAndTraces() throws Exception {
    Path candidates = folder.resolve("exported");
    write(candidates.resolve("right/scale_w96.py"), KERNEL.replace("FACTOR", "factor"));
    write(candidates.resolve("wrong/scale_w96.py"), KERNEL.replace("FACTOR", "0.5"));
    judged(candidates);
    Path target = folder.resolve("traces");
    Kbx.Result result =
        Kbx.here("export", "flashinfer", target, "--out", folder.resolve("exported-out"));
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.err())
        .contains(
            "2 solutions, 3 traces", "1 correct candidate without a trace, which needs a time");
    List<JsonNode> traces =
        Files.readAllLines(target.resolve("traces/elementwise/scale_w96.jsonl")).stream()
            .map(line -> new Kbx.Result(0, line, "").json())
            .toList();
    assertThat(traces)
        .extracting(trace -> trace.at("/workload/uuid").asString())
        .containsExactly("small", "large", "drawn");
    JsonNode first = traces.getFirst();
    assertThat(first.at("/evaluation/status").asString()).isEqualTo("INCORRECT_NUMERICAL");
    assertThat(first.at("/evaluation/correctness/max_absolute_error").asDouble()).isPositive();
    assertThat(first.at("/evaluation").has("performance")).isFalse();
    assertThat(first.at("/workload/axes/rows").asInt()).isEqualTo(3);
    assertThat(first.get("workload").has("tolerance")).isFalse();
    assertThat(traces.get(1).at("/workload/tolerance/max_atol").asDouble()).isEqualTo(1e-4);
    assertThat(first.at("/workload/inputs/factor/value").asDouble()).isEqualTo(0.5);
    assertThat(first.at("/workload/inputs/x/type").asString()).isEqualTo("random");
    Map<String, JsonNode> again = judged(target.resolve("solutions"));
    assertThat(again.values())
        .extracting(verdict -> verdict.get("status").asString())
        .containsExactlyInAnyOrder("correct", "wrong_values");
    assertThat(again.keySet()).anyMatch(path -> path.contains(first.get("solution").asString()));
  }

  private static String status(Map<String, JsonNode> verdicts, String name) {
    return requireNonNull(verdicts.get(name)).get("status").asString();
  }

  @Test
  void theReferencesSatisfyTheirControls() {
    Kbx.Result result = Kbx.here("tasks", "verify", "--suite", suite(), "--device", "cpu");
    assertThat(result.exit()).as(result.out() + result.err()).isZero();
    assertThat(result.out()).contains("2 of 2 tasks sound");
  }

  @Test
  void foldersOfDefinitionsAndWorkloadsAreImported() throws Exception {
    Kbx.Result result = imported("flashinfer", "flashinfer");
    assertThat(result.exit()).as(result.err()).isZero();
    String task = Files.readString(folder.resolve("flashinfer/norm/double_n.py"));
    assertThat(task).contains("Workload(\"w\", {\"n\": 300})").doesNotContain(folder.toString());
    assertThat(imported("flashinfer", "flashinfer").exit()).isZero(); // in place of the first
  }

  @Test
  void aFolderWithoutDefinitionsIsRefused() {
    Kbx.Result result = Kbx.here("tasks", "import", "sol-execbench", Kbx.home().resolve("prompts"));
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err()).contains("holds no definitions");
  }

  private static String parent(String file) {
    Path path = Path.of(file);
    return path.getName(path.getNameCount() - 2).toString();
  }

  private static Path suite() {
    return folder.resolve("sol");
  }

  private static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.resolveSibling(""));
    Files.writeString(file, text);
  }
}
