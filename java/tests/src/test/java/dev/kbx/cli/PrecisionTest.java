package dev.kbx.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** {@code --precision}: modules cast to half precision, and what cannot be cast. */
class PrecisionTest {
  /** Rounds float32 operands to TF32, which half precision does not notice. */
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

  /** Adds up squares in the dtype of its input: float16 overflows. */
  private static final String NORM =
      """
      import torch
      import triton
      import triton.language as tl
      from torch import nn


      @triton.jit
      def l2norm_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
          column = tl.arange(0, BLOCK)
          x = tl.load(x_ptr + tl.program_id(0) * columns + column, mask=column < columns, other=0.0)
          length = tl.sqrt(tl.sum(x * x, 0).to(tl.float32))
          tl.store(y_ptr + tl.program_id(0) * columns + column, x / length, mask=column < columns)


      class ModelNew(nn.Module):
          def forward(self, x):
              x = x.contiguous()
              y = torch.empty_like(x)
              block = triton.next_power_of_2(x.shape[1])
              l2norm_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=block)
              return y
      """;

  /** Makes a float32 result of whatever it gets. */
  private static final String SINGLE =
      NORM.replace("empty_like(x)", "empty_like(x, dtype=torch.float32)");

  /** Another function than GELU, and the same one in float32. */
  private static final String GELU =
      """
      import torch
      import triton
      import triton.language as tl
      from torch import nn


      @triton.jit
      def gelu_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
          tl.store(y_ptr + i, RESULT, mask=i < n)


      class ModelNew(nn.Module):
          def forward(self, x):
              x = x.contiguous()
              y = torch.empty_like(x)
              gelu_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
              return y
      """;

  private static final String LINEAR =
      """
      import torch
      from torch import nn


      class Model(nn.Module):
          def __init__(self):
              super().__init__()
              self.linear = nn.Linear(24, 16)

          def forward(self, x, rows):
              return self.linear(x)[rows]


      def get_inputs():
          return [torch.randn(32, 24), torch.randint(32, (8,))]
      """;

  @TempDir private static Path folder;

  private static final Map<String, JsonNode> VERDICTS = new HashMap<>();

  @BeforeAll
  static void judge() throws Exception {
    write("kernels/tf32/2_Standard_matrix_multiplication_.py", MATMUL);
    write("kernels/squares/39_L2Norm_.py", NORM);
    write("kernels/single/39_L2Norm_.py", SINGLE);
    String erf = "0.5 * x * (1 + tl.erf(x * 0.7071067811865476))";
    write("kernels/gelu/26_GELU_.py", GELU.replace("RESULT", erf));
    write("kernels/quick/26_GELU_.py", GELU.replace("RESULT", "x * tl.sigmoid(1.702 * x)"));
    write("kernels/percent/26_GELU_.py", GELU.replace("RESULT", erf + " * 1.01"));
    for (String precision : List.of("fp32", "fp16", "bf16")) {
      Kbx.Result result = eval(precision, folder.resolve("kernels"), "--precision", precision);
      assertThat(result.exit()).as(result.err()).isZero();
      for (JsonNode verdict : result.json().get("verdicts")) {
        Path source = Path.of(verdict.get("source").asString());
        VERDICTS.put(precision + " " + requireNonNull(source.getParent()).getFileName(), verdict);
      }
    }
  }

  private static Path write(String name, String source) throws Exception {
    Path file = folder.resolve(name);
    Files.createDirectories(requireNonNull(file.getParent()));
    return Files.writeString(file, source);
  }

  private static Kbx.Result eval(String out, Object... more) {
    List<Object> arguments = new ArrayList<>(List.of("eval"));
    arguments.addAll(List.of(more));
    if (!arguments.contains("--reference")) arguments.addAll(List.of("--suite", "kernelbench"));
    arguments.addAll(List.of("--device", "cpu", "--jobs", 1, "--seed", Kbx.SEED));
    arguments.addAll(List.of("--json", "--out", folder.resolve(out)));
    return Kbx.here(arguments.toArray());
  }

  @ParameterizedTest
  @CsvSource({
    "fp32 tf32, wrong_values",
    "fp16 tf32, correct",
    "bf16 tf32, correct",
    "fp32 squares, correct",
    "fp16 squares, correct",
    "fp16 gelu, correct",
    "bf16 gelu, correct",
    "fp16 quick, wrong_values",
    "bf16 quick, wrong_values",
    "fp16 percent, wrong_values",
    "bf16 percent, wrong_values",
    "fp32 single, correct",
    "fp16 single, wrong_dtype",
    "bf16 single, wrong_dtype",
  })
  void oneSourceHasOneVerdictForEachPrecision(String name, String status) {
    JsonNode verdict = requireNonNull(VERDICTS.get(name), name);
    assertThat(verdict.get("status").asString()).as(verdict.toString()).isEqualTo(status);
    assertThat(verdict.get("precision").asString()).isEqualTo(name.substring(0, 4));
  }

  @Test
  void sumOfSquaresOverflowsWhereValuesAreLarge() {
    assertThat(requireNonNull(VERDICTS.get("fp16 squares")).get("breaks").toString())
        .contains("\"property\":\"wide_values\"");
    assertThat(requireNonNull(VERDICTS.get("fp32 squares")).get("breaks").toString())
        .doesNotContain("values\"");
  }

  /** TF32 has as many digits as float16: the rule is about float32. */
  @Test
  void productsOfHalvesAreNotFlaggedAsLowerPrecision() {
    assertThat(requireNonNull(VERDICTS.get("fp32 tf32")).get("message").asString())
        .contains("tl.dot rounds float32 operands to TF32");
    assertThat(requireNonNull(VERDICTS.get("fp16 tf32")).get("flags").toString())
        .doesNotContain("precision-downgrade");
  }

  @Test
  void outputsNameTheCast() throws Exception {
    String note =
        "Judged in fp16: weights and floating-point inputs were cast, in reference and candidate.";
    assertThat(Files.readString(folder.resolve("fp16/summary.json")))
        .contains("\"precision\" : \"fp16\"");
    assertThat(Files.readString(folder.resolve("fp16/report.html")))
        .contains(note, "<dt>Precision</dt><dd>fp16</dd>");
    assertThat(Files.readString(folder.resolve("fp32/report.html")))
        .doesNotContain("<dt>Precision</dt>");
    assertThat(Files.readString(folder.resolve("fp16/eval_results.json")))
        .contains("\"precision\" : \"fp16\"");
    String id = requireNonNull(VERDICTS.get("fp16 tf32")).get("run").asString();
    assertThat(Kbx.here("runs", "show", id, "--out", folder.resolve("fp16")).out()).contains(note);
  }

  @Test
  void resumeRefusesAnotherPrecision() {
    Kbx.Result other = eval("fp16", folder.resolve("kernels"), "--resume");
    assertThat(other.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(other.err()).contains("with --precision fp16, this is with --precision fp32");
    Kbx.Result same = eval("fp16", folder.resolve("kernels"), "--resume", "--precision", "fp16");
    assertThat(same.exit()).as(same.err()).isZero();
  }

  /** The store of one folder: what is remembered of float32 says nothing of float16. */
  @Test
  void rememberedVerdictsAreSeparatedByPrecision() throws Exception {
    Path kernel = folder.resolve("kernels/single");
    for (String precision : List.of("fp32", "fp16", "fp32")) {
      JsonNode verdict =
          eval("shared", kernel, "--precision", precision).json().get("verdicts").get(0);
      assertThat(verdict.get("precision").asString()).isEqualTo(precision);
      assertThat(verdict.get("status").asString())
          .isEqualTo(precision.equals("fp32") ? "correct" : "wrong_dtype");
    }
  }

  @Test
  void tasksAreVerifiedAtAPrecision() throws Exception {
    Path out = folder.resolve("verified");
    Kbx.Result result =
        Kbx.here(
            "tasks",
            "verify",
            "level1/39",
            "--suite",
            "kernelbench",
            "--precision",
            "fp16",
            "--device",
            "cpu",
            "--out",
            out);
    assertThat(result.exit()).as(result.out() + result.err()).isZero();
    assertThat(result.out()).contains("1 of 1 tasks sound in fp16");
    assertThat(Files.readString(out.resolve("controls.html"))).contains("sound in fp16");
    assertThat(Files.readString(out.resolve("controls.jsonl"))).contains("\"precision\":\"fp16\"");
    Kbx.Result function = Kbx.here("tasks", "verify", "gelu", "--precision", "fp16", "--out", out);
    assertThat(function.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(function.err()).contains("Activation/gelu states its own dtypes");
  }

  @Test
  void promptsNameThePrecision() {
    Object[] show = {"tasks", "show", "level1/39", "--suite", "kernelbench", "--precision", "fp16"};
    assertThat(Kbx.here(with(show, "--prompt")).out())
        .contains("## Precision\n\nThe module is judged in float16", "inputs: `x: float16 (")
        .doesNotContain("input_precision");
    assertThat(Kbx.here(show).err())
        .isEqualTo("kbx: --precision: is about the prompt; add --prompt\n");
    assertThat(Kbx.here("tasks", "show", "gelu", "--prompt", "--precision", "bf16").err())
        .contains("--precision bf16: Activation/gelu states its own dtypes");
    Object[] generate = {"generate", "--method", "single", "--show-prompt", "level1/39"};
    assertThat(Kbx.here(with(generate, "--suite", "kernelbench", "--precision", "bf16")).out())
        .contains("The module is judged in bfloat16");
  }

  /** All arguments, one after the other. */
  static Object[] with(Object[] first, Object... more) {
    return Stream.of(first, more).flatMap(Stream::of).toArray();
  }

  @Test
  void userModelIsCastExceptItsIntegers() throws Exception {
    Path reference = write("own/linear_ref.py", LINEAR);
    Path right = write("own/right.py", LINEAR.replace("class Model(", "class ModelNew("));
    Kbx.Result result = eval("own", right, "--reference", reference, "--precision", "bf16");
    assertThat(result.exit()).as(result.err()).isZero();
    JsonNode verdict = result.json().get("verdicts").get(0);
    // The model again: right, and nobody's kernel.
    assertThat(verdict.get("published_ok").asBoolean()).as(verdict.toString()).isTrue();
    assertThat(verdict.get("status").asString()).isEqualTo("not_a_kernel");
    assertThat(verdict.get("precision").asString()).isEqualTo("bf16");
  }

  @Test
  void referenceWithStatedDtypesIsNotCast() throws Exception {
    Path function =
        write(
            "own/gelu_ref.py",
            "import torch\n\n\n"
                + "# inputs: f32[8]\n"
                + "def gelu(x):\n"
                + "    return torch.nn.functional.gelu(x)\n");
    Path kernel = write("own/gelu.py", "def gelu(x):\n    return x\n");
    assertThat(eval("no", kernel, "--reference", function, "--precision", "fp16").err())
        .isEqualTo(
            "kbx: --precision fp16: the reference gelu states its own dtypes; only tasks with a"
                + " Model, as those of --suite kernelbench, can be cast\n");
    Kbx.Result suite =
        Kbx.here("eval", kernel, "--precision", "bf16", "--out", folder.resolve("no"));
    assertThat(suite.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(suite.err())
        .startsWith("kbx: --precision bf16: Activation/")
        .contains(" states its own dtypes; only tasks with a Model");
    assertThat(eval("no", kernel, "--precision", "fp8").err())
        .isEqualTo("kbx: --precision: 'fp8' is not one of fp32,fp16,bf16\n");
    assertThat(folder.resolve("no")).doesNotExist();
  }
}
