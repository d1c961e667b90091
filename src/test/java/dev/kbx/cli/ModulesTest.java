package dev.kbx.cli;

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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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

  @TempDir private Path folder;

  private void write(String name, String source) throws IOException {
    Path file = folder.resolve("candidates/" + name + "/" + TASK + ".py");
    Files.createDirectories(file.resolve("..").normalize());
    Files.writeString(file, source);
  }

  @Test
  void modulesAreJudged() throws Exception {
    write("honest", HONEST);
    write("other_weights", HONEST.replace("self.bias =", "torch.randn(1)\n        self.bias ="));
    write("no_bias", HONEST.replace("tl.maximum(x, 0.0) + bias", "tl.maximum(x, 0.0)"));
    write("no_constructor", HONEST.replace(", kernel_size, bias_shape):", "):"));
    write("no_class", HONEST.replace("ModelNew", "Model"));
    write(
        "folded",
        HONEST
            .replace("bias_shape))\n", "bias_shape))\n        self.first = [self.bias.clone()]\n")
            .replace("(x, self.bias, y", "(x, self.first[0], y"));
    Kbx.Result result =
        Kbx.run(
            folder, "eval", "candidates", "--suite", "kernelbench", "--device", "cpu", "--json");
    String note =
        "Judged on scaled inputs, not on the published sizes, which need a GPU: 4 of 6 candidates.";
    assertThat(Files.readString(folder.resolve("kbx-out/summary.json"))).contains(note);
    assertThat(Files.readString(folder.resolve("kbx-out/report.html"))).contains(note);
    Map<String, String> statuses = new TreeMap<>();
    for (JsonNode verdict : result.json().get("verdicts")) {
      String name = Path.of(verdict.get("source").asString()).getName(1).toString();
      statuses.put(name, verdict.get("status").asString());
      if (name.equals("honest")) {
        assertThat(verdict.get("category").asString()).isEqualTo("level2");
        assertThat(verdict.get("flags").toString()).isEqualTo("[\"scaled_inputs\"]");
      }
      if (name.equals("folded")) {
        assertThat(verdict.get("flags").toString())
            .isEqualTo("[\"scaled_inputs\",\"state_ignored\"]");
      }
    }
    assertThat(statuses)
        .containsOnly(
            Map.entry("honest", "correct"),
            Map.entry("folded", "correct"),
            Map.entry("other_weights", "wrong_values"),
            Map.entry("no_bias", "wrong_values"),
            Map.entry("no_constructor", "runtime_error"),
            Map.entry("no_class", "no_entry"));
  }

  @Test
  void publishedTolerancesAreAnOption() throws Exception {
    String relu =
        """
        import torch
        from torch import nn


        class ModelNew(nn.Module):
            def forward(self, x):
                return torch.relu(x) * 1.00005
        """;
    Path file = folder.resolve("19_ReLU.py");
    Files.writeString(file, relu);
    assertThat(judged(file, "model").get("status").asString()).isEqualTo("wrong_values");
    JsonNode loose = judged(file, "published");
    assertThat(loose.get("status").asString()).isEqualTo("correct");
    assertThat(loose.get("flags").toString()).contains("published_tolerance");
    assertThat(Files.readString(folder.resolve("kbx-out/report.html")))
        .contains("Results were held to the published tolerances")
        .contains("No kernel of its own made the results of 1 of 1 correct candidate:");
    Files.writeString(file, relu.replace("1.00005", "1.0005"));
    assertThat(judged(file, "published").get("status").asString()).isEqualTo("wrong_values");
  }

  @Test
  void wrongValuesNameWhatMayBeTheirCause() throws Exception {
    Path file = folder.resolve("2_Standard_matrix_multiplication_.py");
    Files.writeString(
        file,
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
        """);
    JsonNode verdict = judged(file, "model");
    assertThat(verdict.get("status").asString()).isEqualTo("wrong_values");
    assertThat(verdict.get("message").asString())
        .contains("; line 16: tl.dot rounds float32 operands to TF32", "input_precision=\"ieee\"");
  }

  @Test
  void recurrentLayersOfPyTorchRunWithoutAGpu() throws Exception {
    Path file = folder.resolve("35_LSTM.py");
    Files.writeString(
        file,
        """
        from torch import nn


        class ModelNew(nn.Module):
            def __init__(self, input_size, hidden_size, num_layers, output_size, dropout=0.0):
                super().__init__()
                self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True)
                self.fc = nn.Linear(hidden_size, output_size)

            def forward(self, x, h0=None, c0=None):
                return self.fc(self.lstm(x)[0][:, -1])
        """);
    assertThat(judged(file, "model").get("status").asString()).isEqualTo("correct");
  }

  private JsonNode judged(Path file, String tolerance) throws Exception {
    return Kbx.run(
            folder,
            "eval",
            file,
            "--suite",
            "kernelbench",
            "--device",
            "cpu",
            "--tolerance",
            tolerance,
            "--json")
        .json()
        .get("verdicts")
        .get(0);
  }

  @Test
  void bundledMistakesEndAsExpected() throws Exception {
    Path corpus = Kbx.home().resolve("corpus/kernelbench");
    JsonNode expected = Json.mapper().readTree(Files.readString(corpus.resolve("expected.json")));
    Map<String, String> wanted = new TreeMap<>();
    expected
        .propertyStream()
        .forEach(e -> wanted.put(e.getKey(), e.getValue().get("status").asString()));
    Kbx.Result result =
        Kbx.run(
            folder,
            "eval",
            corpus.resolve("failing"),
            "--suite",
            "kernelbench",
            "--device",
            "cpu",
            "--json");
    Map<String, String> got = new TreeMap<>();
    for (JsonNode verdict : result.json().get("verdicts")) {
      Path source = Path.of(verdict.get("source").asString());
      got.put(corpus.relativize(source).toString(), verdict.get("status").asString());
    }
    assertThat(got).hasSize(4).isEqualTo(wanted);
    Kbx.Result other = Kbx.here("eval", corpus, "--out", folder.resolve("out"));
    assertThat(other.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(other.err()).contains("is for the suite kernelbench, and this run judges");
  }

  @Test
  @Tag("soak")
  void theSuiteIsSoundWhereThereIsNoGpu() throws Exception {
    Kbx.Result result =
        Kbx.run(
            folder,
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
