package dev.kbx.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code kbx tasks import kernelbench}, and what can be done with a suite that it made. */
class ImportModulesTest {
  private static final Path CHECKOUT =
      Kbx.home().resolve("java/tests/src/test/resources/original-kernelbench");

  private static final String KERNEL =
      """
      import torch
      import triton
      import triton.language as tl

      @triton.jit
      def kernel(x, y, n, offset, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          tl.store(y + i, tl.load(x + i, mask=i < n) * FACTOR + offset, mask=i < n)

      class ModelNew(torch.nn.Module):
          def __init__(self, offset=1.0):
              super().__init__()
              self.offset = offset

          def forward(self, x):
              y = torch.empty_like(x)
              kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), self.offset, BLOCK=256)
              return y
      """;

  private static final String PRODUCT =
      """
      import torch

      class ModelNew(torch.nn.Module):
          def forward(self, A, B):
              return A @ B
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
            "kernelbench",
            folder.resolve("checkout"),
            "--out",
            suite(),
            "--device",
            "cpu",
            "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.err()).contains("level1/2_Halve", "/10] ");
    report = result.json();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) Files.copy(file, to.resolve(from.relativize(file)));
    }
  }

  private static Path suite() {
    return folder.resolve("kernelbench-original");
  }

  @Test
  void everyFileIsImportedOrExplained() {
    assertThat(report.get("files").asInt()).isEqualTo(11);
    assertThat(report.get("suite").asString()).endsWith("/kernelbench-original");
    assertThat(report.get("imported").values())
        .extracting(task -> task.get("category").asString() + "/" + task.get("name").asString())
        .containsExactly(
            "level1/1_Square_matrix_product_",
            "level1/2_Halve",
            "level1/3_Lookup",
            "level2/4_Linear_Shift",
            "level3/3_Perceptron");
    List<String> reasons = new ArrayList<>();
    for (JsonNode file : report.get("unusable")) {
      Path path = Path.of(file.get("file").asString());
      String line = file.has("line") ? ":" + file.get("line").asInt() : "";
      String reason = file.get("reason").asString();
      reasons.add(path.getFileName() + line + ": " + reason.lines().findFirst().orElse(""));
    }
    assertThat(reasons.get(1)).startsWith("6_Misfit.py:11: forward() raised RuntimeError: ");
    reasons.remove(1);
    assertThat(reasons)
        .containsExactly(
            "5_Dropout.py:10: forward() draws random numbers (aten.bernoulli_.float), which another"
                + " process cannot repeat",
            "7_Unfinished.py: defines no function get_inputs()",
            "12_Broken.py:3: invalid syntax: class Model(nn.Module:",
            "1_Foreign.py:2: needs the module 'no_such_package', which is neither beside the file"
                + " nor installed in this Python",
            "2_Odd_arguments.py:18: get_init_inputs()[0] is a Linear, which cannot be sent to"
                + " another process: pass its weights, or construct it in a class Model");
  }

  @Test
  void importLinksTheOriginalWithoutCopyingIt() throws Exception {
    String written = Files.readString(folder.resolve("kernelbench-original/level1/2_Halve.py"));
    String task = written.replace(folder.toString(), ""); // Any number may be in there.
    assertThat(task).contains("sha256=").doesNotContain("factor()").doesNotContain("301");
    String prompt = Kbx.here("tasks", "show", "2_Halve", "--suite", suite(), "--prompt").out();
    assertThat(prompt)
        .contains("ModelNew(offset=1.0).forward(x)", "return x * factor() + self.offset");
  }

  @Test
  void candidatesAreJudgedOnInputsOfTheOriginal() throws Exception {
    Path changed = folder.resolve("checkout/KernelBench/level1/3_Lookup.py");
    Files.writeString(changed, Files.readString(changed) + "\n");
    Path candidates = folder.resolve("candidates");
    for (String factor : List.of("0.5", "0.4999")) {
      Path file = candidates.resolve(factor + "/2_Halve.py");
      Files.createDirectories(file.resolve("..").normalize());
      Files.writeString(file, KERNEL.replace("FACTOR", factor));
    }
    Files.writeString(candidates.resolve("level_1_problem_1_sample_0_kernel.py"), PRODUCT);
    Files.writeString(candidates.resolve("3_Lookup.py"), PRODUCT);
    Kbx.Result result =
        Kbx.here(
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
            "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    Map<String, JsonNode> verdicts = new TreeMap<>();
    for (JsonNode verdict : result.json().get("verdicts")) {
      Path source = candidates.relativize(Path.of(verdict.get("source").asString()));
      verdicts.put(source.getName(0).toString(), verdict);
    }
    JsonNode right = requireNonNull(verdicts.get("0.5"));
    assertThat(right.get("status").asString()).isEqualTo("correct");
    assertThat(right.get("flags").isEmpty()).isTrue();
    JsonNode wrong = requireNonNull(verdicts.get("0.4999"));
    assertThat(wrong.get("status").asString()).isEqualTo("wrong_values");
    assertThat(wrong.get("message").asString())
        .startsWith("sizes='published', get_inputs() values: ");
    JsonNode large = requireNonNull(verdicts.get("level_1_problem_1_sample_0_kernel.py"));
    assertThat(large.get("status").asString()).isEqualTo("infrastructure");
    assertThat(large.get("message").asString()).contains("need a GPU; the suite kernelbench has");
    assertThat(folder.resolve("kbx-out/eval_results.json")).exists();
    JsonNode outdated = requireNonNull(verdicts.get("3_Lookup.py"));
    assertThat(outdated.get("status").asString()).isEqualTo("invalid_task");
    assertThat(outdated.get("message").asString())
        .contains("3_Lookup.py: the original file has changed since it was imported");
  }
}
