package dev.kbx.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** KernelBench: tasks that are modules, and candidates that define {@code ModelNew}. */
class ModulesTest {
  private static final String TASK = "1_Conv2D_ReLU_BiasAdd";
  private static final String HONEST =
      """
      import torch
      import triton
      import triton.language as tl
      from torch import nn


      @triton.jit
      def relu_bias(x_ptr, bias_ptr, y_ptr, n, plane, channels, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          x = tl.load(x_ptr + i, mask=i < n)
          bias = tl.load(bias_ptr + i // plane % channels, mask=i < n)
          tl.store(y_ptr + i, tl.maximum(x, 0.0) + bias, mask=i < n)


      class ModelNew(nn.Module):
          def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
              super().__init__()
              self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
              self.bias = nn.Parameter(torch.randn(bias_shape))

          def forward(self, x):
              x = self.conv(x).contiguous()
              y = torch.empty_like(x)
              n = x.numel()
              grid = (triton.cdiv(n, 1024),)
              relu_bias[grid](x, self.bias, y, n, x.shape[2] * x.shape[3], x.shape[1], BLOCK=1024)
              return y
      """;

  private static final boolean SOAK = Boolean.getBoolean("kbx.soak");

  /** Some of every level. */
  private static final List<String> SOME = List.of("level1/?_*", "level2/?_*", "level3/3?_*");

  /** All but 18 deep networks of level 3, for which a processor needs two minutes. */
  private static final List<String> QUICK =
      List.of(
          "level1/*",
          "level2/*",
          "level3/1_*",
          "level3/2_*",
          "level3/3_*",
          "level3/4_*",
          "level3/6_*",
          "level3/8_*",
          "level3/13_*",
          "level3/14_*",
          "level3/17_*",
          "level3/21_*",
          "level3/25_*",
          "level3/50_*",
          "level3/3?_*",
          "level3/4?_*");

  private static final String RELU =
      """
      import torch
      import triton
      import triton.language as tl
      from torch import nn


      @triton.jit
      def relu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          x = tl.load(x_ptr + i, mask=i < n)
          tl.store(y_ptr + i, tl.maximum(x, 0.0) * 1.00005, mask=i < n)


      class ModelNew(nn.Module):
          def forward(self, x):
              x = x.contiguous()
              y = torch.empty_like(x)
              relu_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
              return y
      """;

  private static final String MATMUL =
      """
      import torch
      import triton
      import triton.language as tl
      from torch import nn


      @triton.jit
      def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
          total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
          for start in range(0, K, BLOCK):
              k = start + tl.arange(0, BLOCK)
              a = tl.load(a_ptr + i[:, None] * K + k, mask=(i[:, None] < M) & (k < K), other=0.0)
              b = tl.load(b_ptr + k[:, None] * N + j, mask=(k[:, None] < K) & (j < N), other=0.0)
              total += tl.dot(a, b)
          tl.store(c_ptr + i[:, None] * N + j, total, mask=(i[:, None] < M) & (j < N))


      class ModelNew(nn.Module):
          def forward(self, A, B):
              A, B = A.contiguous(), B.contiguous()
              M, K = A.shape
              N = B.shape[1]
              C = torch.empty((M, N), device=A.device, dtype=A.dtype)
              grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
              matmul_kernel[grid](A, B, C, M, N, K, BLOCK=32)
              return C
      """;

  private static final String LSTM =
      """
      from torch import nn


      class ModelNew(nn.Module):
          def __init__(self, input_size, hidden_size, num_layers, output_size, dropout=0.0):
              super().__init__()
              self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True)
              self.fc = nn.Linear(hidden_size, output_size)

          def forward(self, x, h0=None, c0=None):
              return self.fc(self.lstm(x)[0][:, -1])
      """;

  private static final Path CORPUS = Kbx.home().resolve("corpus/kernelbench");

  @TempDir private static Path folder;

  /** By the folder below {@code candidates}, or the path below the corpus. */
  private static final Map<String, JsonNode> VERDICTS = new TreeMap<>();

  /** One run for all tests of verdicts at the default tolerance: workers take seconds to start. */
  @BeforeAll
  static void judge() throws Exception {
    Path candidates = folder.resolve("candidates");
    write(candidates, "honest", TASK, HONEST);
    write(
        candidates,
        "other_weights",
        TASK,
        HONEST.replace("self.bias =", "torch.randn(1)\n        self.bias ="));
    write(
        candidates,
        "no_bias",
        TASK,
        HONEST.replace("tl.maximum(x, 0.0) + bias", "tl.maximum(x, 0.0)"));
    write(candidates, "no_constructor", TASK, HONEST.replace(", kernel_size, bias_shape):", "):"));
    write(candidates, "no_class", TASK, HONEST.replace("ModelNew", "Model"));
    write(
        candidates,
        "folded",
        TASK,
        HONEST
            .replace("bias_shape))\n", "bias_shape))\n        self.first = [self.bias.clone()]\n")
            .replace("(x, self.bias, y", "(x, self.first[0], y"));
    write(candidates, "nearly", "19_ReLU", RELU);
    write(candidates, "lower_precision", "2_Standard_matrix_multiplication_", MATMUL);
    write(candidates, "recurrent", "35_LSTM", LSTM);
    Path failing = CORPUS.resolve("failing");
    for (JsonNode verdict : eval("out", candidates, failing).json().get("verdicts")) {
      Path source = Path.of(verdict.get("source").asString());
      VERDICTS.put(
          source.startsWith(CORPUS)
              ? CORPUS.relativize(source).toString()
              : candidates.relativize(source).getName(0).toString(),
          verdict);
    }
  }

  private static void write(Path candidates, String name, String task, String source)
      throws IOException {
    Path file = candidates.resolve(name).resolve(task + ".py");
    Files.createDirectories(file.resolve("..").normalize());
    Files.writeString(file, source);
  }

  private static Kbx.Result eval(String out, Object... more) {
    List<Object> arguments = new ArrayList<>(List.of("eval"));
    arguments.addAll(List.of(more));
    arguments.addAll(List.of("--suite", "kernelbench", "--device", "cpu", "--jobs", 1));
    arguments.addAll(List.of("--json", "--out", folder.resolve(out)));
    return Kbx.here(arguments.toArray());
  }

  private static JsonNode verdict(String name) {
    return requireNonNull(VERDICTS.get(name), name);
  }

  private static String status(String name) {
    return verdict(name).get("status").asString();
  }

  @ParameterizedTest
  @CsvSource({
    "honest, correct",
    "folded, correct",
    "recurrent, not_a_kernel",
    "other_weights, wrong_values",
    "no_bias, wrong_values",
    "nearly, wrong_values",
    "lower_precision, wrong_values",
    "no_constructor, runtime_error",
    "no_class, no_entry",
  })
  void modulesAreJudged(String name, String status) {
    assertThat(status(name)).as(verdict(name).toString()).isEqualTo(status);
  }

  @Test
  void verdictHasCategoryFlagsAndCalls() throws Exception {
    assertThat(verdict("honest").get("category").asString()).isEqualTo("level2");
    assertThat(verdict("honest").get("flags").toString()).isEqualTo("[\"scaled_inputs\"]");
    assertThat(verdict("folded").get("flags").toString())
        .isEqualTo("[\"scaled_inputs\",\"state_ignored\"]");
    long scaled =
        VERDICTS.values().stream()
            .filter(verdict -> verdict.get("flags").toString().contains("scaled_inputs"))
            .count();
    assertThat(scaled).isBetween(7L, 12L);
    String note =
        "Judged on scaled inputs, not on the published sizes, which need a GPU: %d of %d candidates."
            .formatted(scaled, VERDICTS.size());
    assertThat(Files.readString(folder.resolve("out/summary.json"))).contains(note);
    assertThat(Files.readString(folder.resolve("out/report.html")))
        .contains(note)
        .contains("made less than half of the results of 2 of 2 correct candidates");
  }

  @Test
  void publishedTolerancesAreAnOption() throws Exception {
    Path candidates = folder.resolve("tolerated");
    write(candidates, "near", "19_ReLU", RELU);
    write(candidates, "far", "19_ReLU", RELU.replace("1.00005", "1.0005"));
    Kbx.Result result = eval("loose", candidates, "--tolerance", "published");
    Map<String, JsonNode> verdicts = new TreeMap<>();
    for (JsonNode verdict : result.json().get("verdicts")) {
      Path source = Path.of(verdict.get("source").asString());
      verdicts.put(candidates.relativize(source).getName(0).toString(), verdict);
    }
    JsonNode near = requireNonNull(verdicts.get("near"));
    assertThat(near.get("status").asString()).isEqualTo("correct");
    assertThat(near.get("flags").toString()).contains("published_tolerance");
    JsonNode far = requireNonNull(verdicts.get("far"));
    assertThat(far.get("status").asString()).isEqualTo("wrong_values");
    assertThat(Files.readString(folder.resolve("loose/report.html")))
        .contains("Results were held to the published tolerances");
  }

  @Test
  void wrongValuesNameAPossibleCause() {
    assertThat(verdict("lower_precision").get("message").asString())
        .contains("; line 16: tl.dot rounds float32 operands to TF32", "input_precision=\"ieee\"");
  }

  @Test
  void bundledMistakesEndAsExpected() throws Exception {
    JsonNode expected = Json.mapper().readTree(Files.readString(CORPUS.resolve("expected.json")));
    Map<String, String> wanted = new TreeMap<>();
    Map<String, String> got = new TreeMap<>();
    expected
        .propertyStream()
        .forEach(e -> {
          wanted.put(e.getKey(), e.getValue().get("status").asString());
          got.put(e.getKey(), status(e.getKey()));
        });
    assertThat(got).hasSize(4).isEqualTo(wanted);
    Kbx.Result other = Kbx.here("eval", CORPUS, "--out", folder.resolve("other"));
    assertThat(other.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(other.err()).contains("is for the suite kernelbench, and this run judges");
  }

  @Test
  @Tag("soak")
  void suiteIsVerifiedWithoutGpu() throws Exception {
    Kbx.Result result =
        Kbx.here(
            Stream.concat(
                    Stream.of(
                        "tasks",
                        "verify",
                        "--suite",
                        "kernelbench",
                        "--device",
                        "cpu",
                        "--seed",
                        Kbx.SEED,
                        "--out",
                        folder.resolve("controls").toString(),
                        "--json"),
                    (SOAK ? QUICK : SOME).stream())
                .toArray());
    List<String> unsound = new ArrayList<>();
    for (JsonNode task : result.json()) {
      if (task.has("problem")) unsound.add(task.get("problem").asString());
      for (JsonNode control : task.get("controls")) {
        if (!control.get("ok").asBoolean()) unsound.add(task.get("name") + " " + control);
      }
    }
    assertThat(unsound).isEmpty();
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.json().size()).isEqualTo(SOAK ? 232 : 28);
  }
}
