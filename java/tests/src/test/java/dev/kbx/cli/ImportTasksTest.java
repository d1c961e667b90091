package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx tasks import}, and what can be done with a suite that it made. */
class ImportTasksTest {
  private static final Path CHECKOUT = Kbx.home().resolve("java/tests/src/test/resources/original");

  private static final String KERNEL =
      """
      import torch
      import triton
      import triton.language as tl

      @triton.jit
      def kernel(x, y, n, limit, factor: tl.constexpr, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          value = tl.load(x + i, mask=i < n).to(tl.float32) * factor
          tl.store(y + i, tl.minimum(value, limit), mask=i < n)

      def %s(input, rounding=float("inf")):
          x = input.contiguous()
          y = torch.empty_like(x)
          kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), rounding, %s, BLOCK=256)
          return y
      """;

  @TempDir private static Path folder;

  private static JsonNode report;

  /** One import for all tests: of a copy, so that a test can change it. */
  @BeforeAll
  static void importOnce() throws Exception {
    copy(CHECKOUT, folder.resolve("checkout"));
    Kbx.Result result =
        Kbx.here(
            "tasks",
            "import",
            "kernelbenchx",
            folder.resolve("checkout"),
            "--out",
            suite(),
            "--device",
            "cpu",
            "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.err()).contains("Math/halve", "/15] ");
    report = result.json();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) Files.copy(file, to.resolve(from.relativize(file)));
    }
  }

  private static Path suite() {
    return folder.resolve("kernelbenchx-original");
  }

  private static void refused(Kbx.Result result, String... words) {
    assertThat(result.exit()).as(result.err()).isEqualTo(1);
    assertThat(result.err()).contains(words).doesNotContain("\tat ");
    assertThat(result.out()).isEmpty();
  }

  @Test
  void everyFileIsImportedOrExplained() {
    assertThat(report.get("files").asInt()).isEqualTo(18);
    List<String> imported = new ArrayList<>();
    for (JsonNode task : report.get("imported")) {
      imported.add(
          "%s: left out %s, accepts %s"
              .formatted(
                  task.get("name").asString(),
                  task.has("left_out") ? task.get("left_out").asString() : "none",
                  task.has("accepts") ? task.get("accepts") : "none"));
    }
    assertThat(imported)
        .containsExactly(
            "drop_add: left out 1 of 3 calls are not judged: random (1), accepts none",
            "halve: left out none, accepts none",
            "Descent: left out none, accepts none",
            "accumulate: left out none, accepts none",
            "adam_step: left out none, accepts none",
            "product: left out none, accepts [\"lower_precision\"]",
            "zeroed: left out none, accepts [\"lower_precision\"]");
    List<String> reasons = new ArrayList<>();
    for (JsonNode file : report.get("unusable")) {
      Path path = Path.of(file.get("file").asString());
      String line = file.has("line") ? ":" + file.get("line").asInt() : "";
      reasons.add(path.getFileName() + line + ": " + file.get("reason").asString());
    }
    assertThat(reasons)
        .containsExactly(
            "dependent.py:1: needs the module 'no_such_package', which is neither beside the file"
                + " nor installed in this Python",
            "leaving.py:8: the tests raised SystemExit: 3",
            "misnamed.py:8: defines no function misnamed or kernel_function above the line of 146"
                + " #",
            "noise.py:4: no call of its tests can be judged in another process: random (2)",
            "raising.py:7: the tests raised ValueError: no such data",
            "syntax.py:2: invalid syntax: return x +* 2",
            "uncalled.py:4: the tests never call uncalled()",
            "undefined.py: the reference fails the original's rules: call=0, recorded: output:"
                + " cosine nan < 0.95, relative L1 nan > 0.01, RMSE nan > 0.01",
            "undivided.py: no line of 146 # divides reference and tests",
            "unfinished.py:4: the tests leave no test_results",
            "unpassable.py:4: no call of its tests can be judged in another process: layer is a"
                + " Linear (1)");
  }

  @Test
  void theSuiteIsListedAndShown() throws Exception {
    JsonNode tasks = Kbx.here("tasks", "list", "--suite", suite(), "--json").json();
    assertThat(tasks.size()).isEqualTo(7);
    String shown = Kbx.here("tasks", "show", "Descent", "--suite", suite()).out();
    assertThat(shown)
        .contains("descent_step(param, grad, lr=0.1)", "One step of gradient descent.");
    String product = Kbx.here("tasks", "show", "product", "--suite", suite()).out();
    assertThat(product).contains("A quantized product, \"\"\"faithfully\"\"\".", "rmse=0.1");
  }

  @Test
  void changedOriginalInvalidatesOnlyItsTask() throws Exception {
    Path original = folder.resolve("checkout/data/kernelbenchx/Optimizer/accumulate.py");
    Files.writeString(original, "\n");
    Kbx.Result verified =
        Kbx.here(
            "tasks",
            "verify",
            "--suite",
            suite(),
            "--device",
            "cpu",
            "--jobs",
            1,
            "--out",
            folder.resolve("controls"));
    copyBack("data/kernelbenchx/Optimizer/accumulate.py");
    assertThat(verified.exit()).isEqualTo(1);
    assertThat(verified.out())
        .contains(
            "4 of 7 tasks sound",
            "Quantization/product.py: negative control 'lower_precision' ended as correct",
            "Quantization/zeroed.py: negative control 'lower_precision' ended as correct",
            original + ": ",
            "has changed since it was imported");
  }

  @Test
  void candidatesAreJudgedOnTheCallsOfTheTests() throws Exception {
    Path candidates = Files.createDirectories(folder.resolve("candidates"));
    for (String name : List.of("right", "wrong", "common")) {
      Files.createDirectories(candidates.resolve(name));
    }
    Files.writeString(candidates.resolve("right/halve.py"), KERNEL.formatted("halve", "0.5"));
    Files.writeString(candidates.resolve("wrong/halve.py"), KERNEL.formatted("halve", "0.4999"));
    Files.writeString(
        candidates.resolve("common/halve.py"), KERNEL.formatted("kernel_function", "0.5"));
    Object[] eval = {
      "eval",
      candidates,
      "--suite",
      suite(),
      "--device",
      "cpu",
      "--jobs",
      1,
      "--out",
      folder.resolve("kbx-out"),
      "--json"
    };
    Kbx.Result result = Kbx.here(eval);
    assertThat(result.exit()).as(result.err()).isZero();
    Map<String, String> verdicts = new HashMap<>();
    for (JsonNode verdict : result.json().get("verdicts")) {
      String message = verdict.has("message") ? ": " + verdict.get("message").asString() : "";
      verdicts.put(
          candidates.relativize(Path.of(verdict.get("source").asString())).getName(0).toString(),
          verdict.get("status").asString() + message);
    }
    assertThat(verdicts)
        .containsEntry("right", "correct")
        .containsEntry("common", "correct")
        .containsEntry(
            "wrong",
            "wrong_values: call=0, recorded values: 2 wrong elements of 3, first output[0]:"
                + " expected 0.5, got 0.499900013 (6.7x the allowed error)");
    Path original = folder.resolve("checkout/data/kernelbenchx/Math/halve.py");
    Files.writeString(original, Files.readString(original) + "\n");
    assertThat(Kbx.here(eval).json().get("verdicts"))
        .as("what is remembered is of another original")
        .allMatch(verdict -> verdict.get("status").asString().equals("invalid_task"));
    copyBack("data/kernelbenchx/Math/halve.py");
  }

  private static void copyBack(String file) throws IOException {
    Files.write(
        folder.resolve("checkout").resolve(file), Files.readAllBytes(CHECKOUT.resolve(file)));
  }

  @Test
  void importReplacesOnlyTheEarlierImport() throws Exception {
    Path category = folder.resolve("checkout/data/kernelbenchx/Math");
    Path out = folder.resolve("again");
    Path stale = Files.createDirectories(out.resolve("Math")).resolve("stale.py");
    Files.copy(suite().resolve("Math/halve.py"), stale);
    Kbx.Result again =
        Kbx.here("tasks", "import", "kernelbenchx", category, "--out", out, "--device", "cpu");
    assertThat(again.out()).startsWith("1 of 1 file imported into " + out);
    Path task = out.resolve("Math/halve.py");
    String first = Files.readString(task);
    assertThat(stale).doesNotExist();
    assertThat(first).contains("Halves each element").doesNotContain("torch.clamp");
    Files.writeString(out.resolve("Math/own.py"), "\"\"\"Mine.\"\"\"\n");
    refused(
        Kbx.here("tasks", "import", "kernelbenchx", category, "--out", out),
        "--output %s: holds a file that was not imported, Math/own.py; name another folder"
            .formatted(out));
    assertThat(Files.readString(task)).isEqualTo(first);
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .noneMatch(name -> name.startsWith("."));
    }
  }

  @Test
  void importWithoutUsableTasksLeavesNoSuite() throws Exception {
    Path broken = Files.createDirectories(folder.resolve("few/Broken"));
    for (String name : List.of("misnamed.py", "raising.py")) { // One is not run, one is.
      Files.copy(CHECKOUT.resolve("data/kernelbenchx/Broken").resolve(name), broken.resolve(name));
    }
    Path none = folder.resolve("none");
    Kbx.Result result =
        Kbx.here("tasks", "import", "kernelbenchx", broken, "--out", none, "--device", "cpu");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.out())
        .startsWith("0 of 2 files imported; no suite is written\n")
        .contains("raising.py:7: the tests raised ValueError: no such data");
    assertThat(none).doesNotExist();
  }

  @Test
  void badArgumentsAreExplained() throws Exception {
    refused(Kbx.here("tasks", "import", "kernelbenchx", "nowhere"), "nowhere: no such folder");
    refused(
        Kbx.here("tasks", "import", "kernelbenchx", Kbx.home().resolve("README.md")),
        "README.md: is a file; name the folder of a checkout of KernelBench-X");
    refused(
        Kbx.here("tasks", "import", "kernelbenchx", Kbx.home().resolve("docs")),
        "holds no task files of KernelBench-X; name its checkout");
    refused(
        Kbx.here("tasks", "import", "mlperf", folder),
        "mlperf: only kernelbenchx, kernelbench, sol-execbench and flashinfer can be"
            + " imported");
    refused(Kbx.here("tasks", "import"), "FORMAT");
    String help = Kbx.here("tasks", "import", "--help").out();
    assertThat(help).contains("Usage: kbx tasks import", "--output", "--json");
    assertThat(help.lines()).allMatch(line -> line.length() <= 100);
  }
}
