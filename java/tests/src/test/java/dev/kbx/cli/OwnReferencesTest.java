package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** {@code kbx eval --reference}. */
class OwnReferencesTest extends OwnReferenceCase {
  @Test
  void eachSourceIsACandidateForTheReference() throws Exception {
    Kbx.Result result = eval("right.py", "wrong.py", "--reference", "my_ref.py", "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    List<JsonNode> verdicts = List.copyOf(result.json().get("verdicts").values());
    assertThat(verdicts)
        .extracting(verdict -> verdict.get("status").asString())
        .containsExactly("correct", "wrong_values");
    JsonNode right = verdicts.getFirst();
    assertThat(right.get("category").asString() + "/" + right.get("task").asString())
        .isEqualTo("own/scale");
    assertThat(right.get("grade").asString()).isEqualTo("published");
    assertThat(right.get("holds").values())
        .extracting(JsonNode::asString)
        .containsExactly(
            "sign:negative",
            "sign:positive",
            "special_values",
            "tiny_values",
            "wide_values",
            "zeros");
    assertThat(right.get("breaks").get(0).get("property").asString()).isEqualTo("non_contiguous");
    assertThat(verdicts.getLast().get("message").asString())
        .matches(
            "inputs=\\(f32\\[16, 40], 2\\.0\\), drawn values: \\d+ wrong elements of 640, .*;"
                + " they are 1\\.001 times what is expected");
  }

  /** What its buffers held is in no other call, so that the same call is made again. */
  @Test
  void whoComputedIsProvenOfAModuleWithBuffers() throws Exception {
    write(
        "counts.py",
        """
        import torch

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("calls", torch.zeros(()))

            def forward(self, x):
                self.calls += 1
                return x.cos() + self.calls

        def get_inputs():
            return [torch.randn(16, 40)]

        def get_init_inputs():
            return []
        """);
    String module =
        """
        import torch
        import triton
        import triton.language as tl

        @triton.jit
        def step(x, y, calls, n, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            now = tl.load(calls) + 1
            tl.store(y + i, COMPUTED + now, mask=i < n)
            tl.debug_barrier()
            tl.store(calls, now)

        class ModelNew(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("calls", torch.zeros(()))

            def forward(self, x):
                x = x.clone(memory_format=torch.contiguous_format)
                HIDDEN
                y = torch.empty_like(x)
                step[(1,)](x, y, self.calls, x.numel(), BLOCK=1024)
                return y
        """;
    String load = "tl.load(x + i, mask=i < n)";
    String raising = "torch._foreach_cos_([x, torch.zeros(1, dtype=torch.int64, device=x.device)])";
    write("own.py", module.replace("COMPUTED", "tl.cos(" + load + ")").replace("HIDDEN", "pass"));
    write(
        "launders.py",
        module
            .replace("COMPUTED", load)
            .replace("HIDDEN", "try: " + raising + "\n        except RuntimeError: pass"));
    Kbx.Result result = eval("own.py", "launders.py", "--reference", "counts.py", "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    List<JsonNode> verdicts = List.copyOf(result.json().get("verdicts").values());
    assertThat(verdicts)
        .extracting(verdict -> verdict.get("status").asString())
        .containsExactly("correct", "cheating");
    assertThat(verdicts.getFirst().get("flags").values()).isEmpty();
    assertThat(verdicts.getLast().get("evidence").asString()).contains("made again");
  }

  /** A Triton reference runs as Triton IR; what is compiled runs as it is written. */
  @Test
  void failuresNameTheCallAndWhatToDo() throws Exception {
    String inputs =
        "def inputs():\n    yield torch.randn(16, 40), 2.0\n\n@torch.compile\ndef scale";
    write("my_ref.py", KERNEL.replace("BY", "by").replace("def scale", inputs));
    write("exits.py", KERNEL.replace("BY", "by") + "\nraise SystemExit(0)\n");
    write("raises.py", KERNEL.replace("BY", "by").replace("    y =", "    x + None\n    y ="));
    Kbx.Result result =
        eval("right.py", "exits.py", "raises.py", "--reference", "my_ref.py", "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    List<JsonNode> verdicts = List.copyOf(result.json().get("verdicts").values());
    assertThat(verdicts)
        .extracting(verdict -> verdict.get("status").asString())
        .containsExactly("correct", "crashed", "runtime_error");
    assertThat(verdicts.get(1).get("message").asString())
        .endsWith(": put what is to run only as a script below if __name__ == '__main__':");
    assertThat(verdicts.get(2).get("message").asString())
        .startsWith("TypeError (line 11)")
        .endsWith("; called with inputs=(f32[16, 40], 2.0), drawn values");
  }

  @Test
  void aFileOfNoTaskIsToldOfReferences() throws Exception {
    assertThat(eval("right.py", "--stages", "static").err())
        .contains("no task 'right' in suite kernelbenchx; ")
        .endsWith("; to judge it by a PyTorch file of your own, give --reference FILE\n");
  }

  @Test
  void messageNamesTheTailThatIsNotWritten() throws Exception {
    String whole = KERNEL.replace("BY", "by").replace("torch.empty", "torch.zeros");
    write("short.py", whole.replace("triton.cdiv(x.numel(), 256)", "x.numel() // 256"));
    JsonNode verdict =
        eval("short.py", "--reference", "my_ref.py", "--json").json().get("verdicts").get(0);
    assertThat(verdict.get("message").asString())
        .contains("values: 128 wrong elements of 640, first output[12, 32]: expected ")
        .contains("; all in the tail of the row-major order, from index 512 on; they are 0");
  }

  @Test
  void inputsThatNeverVaryAreAFlag() throws Exception {
    String constant = "X = torch.ones(16, 40)\n\ndef inputs():\n    return X, 2.0\n\ndef scale";
    write("my_ref.py", REFERENCE.replace("# inputs: f32[16, 40], 2.0\ndef scale", constant));
    JsonNode verdict =
        eval("right.py", "--reference", "my_ref.py", "--json").json().get("verdicts").get(0);
    assertThat(verdict.get("status").asString()).isEqualTo("correct");
    assertThat(verdict.get("flags").values())
        .extracting(JsonNode::asString)
        .contains("same_values");
  }

  private static final String LAYERS =
      """
      import torch

      class Scale(torch.nn.Module):
          def __init__(self):
              super().__init__()
              self.by = torch.nn.Parameter(torch.rand(40) + 0.5)

          def forward(self, x):
              return x * self.by

      class Model(torch.nn.Module):
          def __init__(self):
              super().__init__()
              self.norm = torch.nn.LayerNorm(40)
              self.layers = torch.nn.Sequential(Scale(), torch.nn.GELU(), Scale())

          def forward(self, x):
              return self.layers(self.norm(x)).softmax(-1)

      def get_inputs():
          return [torch.randn(16, 40)]
      """;

  private static final String LAUNCH =
      "y = torch.empty_like(x)\n"
          + "        kernel[(1,)](x, y, x.numel(), self.by, BLOCK=1024)\n"
          + "        return y";

  @Test
  void messageNamesTheFirstSubmoduleThatDiffers() throws Exception {
    write("my_ref.py", LAYERS);
    String kernels = KERNEL.substring(0, KERNEL.indexOf("def scale"));
    String own = kernels + LAYERS.substring(LAYERS.indexOf("class"), LAYERS.indexOf("def get"));
    String right =
        own.replace("class Model", "class ModelNew")
            .replace("* by,", "* tl.load(by + i % 40, mask=i < n),")
            .replace("return x * self.by", LAUNCH);
    write("right.py", right);
    write("gelu.py", right.replace("torch.nn.GELU()", "torch.nn.SiLU()"));
    write("end.py", right.replace("softmax(-1)", "softmax(0)"));
    write("between.py", right.replace("self.norm(x)", "self.norm(x) + 1"));
    Kbx.Result result =
        eval("right.py", "gelu.py", "end.py", "between.py", "--reference", "my_ref.py", "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    List<JsonNode> verdicts = List.copyOf(result.json().get("verdicts").values());
    assertThat(verdicts)
        .extracting(verdict -> verdict.get("status").asString())
        .containsExactly("correct", "wrong_values", "wrong_values", "wrong_values");
    assertThat(verdicts)
        .extracting(verdict -> verdict.path("message").asString("").replaceFirst(".*; ", ""))
        .contains("first different: self.layers.1", "first different: self.layers.0");
    assertThat(verdicts.get(2).get("message").asString()).doesNotContain("first different");
  }

  /** As most model code has it: a causal mask of 0 and minus infinity. */
  @Test
  void aMaskOfInfinitiesDecides() throws Exception {
    String masked =
        """
        import torch

        def inputs():
            return torch.randn(40, 40), torch.full((40, 40), float("-inf")).triu(1)

        def scale(x, by):
            return torch.softmax(x + by, -1)
        """;
    String kernel =
        """
        import torch
        import triton
        import triton.language as tl

        @triton.jit
        def kernel(x, by, y, n, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            at = tl.program_id(0) * n + i
            s = tl.load(x + at, mask=i < n, other=float("-inf"))
            s += tl.load(by + at, mask=i < n, other=0.0)
            e = tl.exp(s - tl.max(s, 0))
            tl.store(y + at, e / tl.sum(e, 0), mask=i < n)

        def scale(x, by):
            x, by = x.contiguous(), by.contiguous()
            y = torch.empty_like(x)
            kernel[(x.shape[0],)](x, by, y, x.shape[1], BLOCK=64)
            return y
        """;
    write("my_ref.py", masked);
    write("right.py", kernel);
    write("wrong.py", kernel.replace("    s += tl.load(by + at, mask=i < n, other=0.0)\n", ""));
    Kbx.Result result = eval("right.py", "wrong.py", "--reference", "my_ref.py", "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.json().get("verdicts").values())
        .extracting(verdict -> verdict.get("status").asString())
        .containsExactly("correct", "wrong_values");
  }

  /**
   * Rows quantized to float8: divided, multiplied by a reciprocal, and by a scale that is not the
   * largest magnitude's.
   */
  @Test
  void float8IsReadAndWritten() throws Exception {
    String reference =
        """
        import torch

        # inputs: f8e5m2[24, 70], f32[24, 1]
        def scale(x, by):
            y = x.float() * by
            top = y.abs().amax(-1, keepdim=True) / 448
            return (y / top).to(torch.float8_e4m3fn), top
        """;
    String kernel =
        """
        import torch
        import triton
        import triton.language as tl

        @triton.jit
        def kernel(x, by, y, top, row, column, n, BLOCK: tl.constexpr):
            i = tl.arange(0, BLOCK)
            r = tl.program_id(0)
            v = tl.load(x + r * row + i * column, mask=i < n, other=0.0).to(tl.float32)
            v *= tl.load(by + r)
            largest = tl.max(tl.abs(v), 0) / 448
            tl.store(y + r * n + i, (RESULT).to(tl.float8e4nv), mask=i < n)
            tl.store(top + r, largest)

        def scale(x, by):
            by = by.contiguous()
            y = torch.empty(x.shape, device=x.device, dtype=torch.float8_e4m3fn)
            top = torch.empty(by.shape, device=x.device)
            kernel[(x.shape[0],)](x, by, y, top, *x.stride(), x.shape[1], BLOCK=128)
            return y, top
        """;
    write("my_ref.py", reference);
    List<Object> arguments = new ArrayList<>();
    for (String result :
        List.of("v / largest", "v * (1 / largest)", "v", "-v / largest", "v * 0")) {
      String name = "kernel_" + (char) ('a' + arguments.size()) + ".py";
      write(name, kernel.replace("RESULT", result));
      arguments.add(name);
    }
    arguments.addAll(List.of("--reference", "my_ref.py", "--json"));
    Kbx.Result result = eval(arguments.toArray());
    assertThat(result.exit()).as(result.err()).isZero();
    List<JsonNode> verdicts = List.copyOf(result.json().get("verdicts").values());
    assertThat(verdicts)
        .extracting(verdict -> verdict.get("status").asString())
        .containsExactly("correct", "correct", "wrong_values", "wrong_values", "wrong_values");
    assertThat(verdicts.getFirst().get("holds").toString())
        .contains("non_contiguous", "tiny_values", "wide_values");
  }

  @Test
  void outputForOneFileFitsAScreen() throws Exception {
    Kbx.Result result = eval("right.py", "--reference", "my_ref.py:scale");
    assertThat(result.out().lines().count()).isLessThanOrEqualTo(15);
    assertThat(result.out())
        .contains(
            "Holds for sign:negative, sign:positive, special_values, tiny_values, wide_values,")
        .contains("Breaks on non_contiguous: wrong_values, inputs=(f32[16, 40], 2.0), ")
        .contains("1 of 1 correct.");
  }

  /** Of values around 0 no row is negative throughout; a module's are not negative at all. */
  @Test
  void maximaThatBeginAtZeroBreakOnNegativeValues() throws Exception {
    String kernel =
        """
        import torch
        import triton
        import triton.language as tl

        @triton.jit
        def kernel(x, y, n, BLOCK: tl.constexpr):
            row, i = tl.program_id(0), tl.arange(0, BLOCK)
            tl.store(y + row, tl.max(tl.load(x + row * n + i, mask=i < n, other=MASKED)))

        def row_max(x):
            x, y = x.contiguous(), x.new_empty(x.shape[0])
            kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=64)
            return y

        class ModelNew(torch.nn.Module):
            def forward(self, x):
                return row_max(x)
        """;
    write("zero.py", kernel.replace("MASKED", "0.0"));
    write("least.py", kernel.replace("MASKED", "-float('inf')"));
    write("maxima.py", "# inputs: f32[16, 40]\ndef row_max(x):\n    return x.amax(1)\n");
    write(
        "module.py",
        """
        import torch

        class Model(torch.nn.Module):
            def forward(self, x):
                return x.amax(1)

        def get_inputs():
            return [torch.rand(16, 40)]

        def get_init_inputs():
            return []
        """);
    for (String reference : List.of("maxima.py", "module.py")) {
      Kbx.Result result =
          eval("zero.py", "least.py", "--reference", reference, "--grade", "general", "--json");
      assertThat(result.exit()).as(result.err()).isZero();
      List<JsonNode> verdicts = List.copyOf(result.json().get("verdicts").values());
      assertThat(verdicts)
          .extracting(verdict -> verdict.get("status").asString())
          .containsExactly("wrong_values", "correct");
      assertThat(verdicts.getFirst().get("message").asString()).contains("sign:negative");
    }
  }

  @Test
  void generalGradeDecidesOnRequest() throws Exception {
    Kbx.Result result = eval("right.py", "--reference", "my_ref.py", "--grade", "general");
    assertThat(result.out()).contains("wrong_values").contains("0 of 1 correct.");
  }

  @Test
  void aFolderMayHoldTheReferenceToo() throws Exception {
    Kbx.Result result = eval(".", "--reference", "my_ref.py", "--stages", "static", "--json");
    assertThat(result.json().get("verdicts").values())
        .extracting(verdict -> verdict.get("source").asString())
        .containsExactly(folder + "/./right.py", folder + "/./wrong.py");
  }

  @Test
  void resumeUsesTheReferenceOfTheRun() throws Exception {
    assertThat(eval("right.py", "--reference", "my_ref.py").exit()).isZero();
    Kbx.Result again = eval("right.py", "--reference", "my_ref.py", "--resume");
    assertThat(again.err()).contains("is complete: nothing is judged again");
    write("my_ref.py", REFERENCE.replace("* by", "* (by + 1)"));
    Kbx.Result changed = eval("right.py", "--reference", "my_ref.py", "--resume");
    assertThat(changed.exit()).isEqualTo(1);
    assertThat(changed.err())
        .containsPattern(
            "was begun on reference my_ref.py:scale \\([0-9a-f]{12}\\), this is on reference"
                + " my_ref.py:scale \\([0-9a-f]{12}\\); give the same, or start a new run without"
                + " --resume");
    assertThat(eval("right.py", "--reference", "my_ref.py").out())
        .as("an earlier judgement is not remembered for another reference")
        .contains("wrong_values");
  }

  @Test
  void referenceErrorsAreOneLineBeforeJudging() throws Exception {
    write("raises.py", REFERENCE.replace("f32[16, 40]", "f32[16], f32[3]"));
    write("random.py", REFERENCE.replace("x * by", "torch.dropout(x, 0.5, True) * by"));
    String here = folder.toRealPath() + "/";
    for (List<String> each :
        List.of(
            List.of("raises.py", here + "raises.py:4: '# inputs:' does not fit scale(): too many"),
            List.of("random.py", here + "random.py:4: scale() draws random numbers (aten."),
            List.of(
                "my_ref.py:other",
                folder + "/my_ref.py: defines no function other; it has scale"))) {
      Kbx.Result result = eval("right.py", "--reference", each.getFirst());
      assertThat(result.exit()).isEqualTo(1);
      assertThat(result.err().lines()).singleElement().asString().startsWith("kbx: " + each.get(1));
    }
    Kbx.Result both = eval("right.py", "--reference", "my_ref.py", "--suite", "kernelbench");
    assertThat(both.err())
        .isEqualTo("kbx: --reference and --suite: give one of them; a reference needs no suite\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"static,compile", "call"})
  void uncomparedKernelIsNotCalledCorrect(String stages) throws Exception {
    Kbx.Result result = eval("wrong.py", "--reference", "my_ref.py", "--stages", stages);
    assertThat(result.out())
        .as(result.err())
        .contains("1 of 1 passed the stages asked for.")
        .contains("Results were not compared: the correct stage was not asked for;")
        .doesNotContain("1 of 1 correct", "grade.", "Performance");
    assertThat(folder.resolve("kbx-out/report.html"))
        .content()
        .contains("1 of 1 passed the stages asked for");
  }

  @Test
  void tasksOptionDoesNotCombineWithAReference() throws Exception {
    Kbx.Result result = eval("right.py", "--reference", "my_ref.py", "--tasks", "relu");
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err())
        .isEqualTo(
            "kbx: no task 'relu': the suite of --reference has one task, scale; leave --tasks"
                + " out\n");
  }

  @Test
  void taskListNamesTheFunctionOfTheReference() throws Exception {
    Path suite = folder.resolve("mt");
    Object[] make = {"tasks", "new", "mine", "--from", folder.resolve("my_ref.py")};
    Kbx.Result made = Kbx.here(PrecisionTest.with(make, "--device", "cpu", "--out", suite));
    assertThat(made.exit()).as(made.err()).isZero();
    Kbx.Result listed = Kbx.here("tasks", "list", "--suite", suite);
    assertThat(listed.out()).as(listed.err()).containsPattern("mine +scale\\(x");
  }

  @Test
  void missingEntryNamesTheExpectedFunction() throws Exception {
    write("other.py", KERNEL.replace("BY", "by").replace("def scale(", "def scaled("));
    Kbx.Result result = eval("other.py", "--reference", "my_ref.py", "--stages", "static");
    assertThat(result.out())
        .contains("no_entry", "nothing at top level is called scale or kernel_function");
  }

  @Test
  @Tag("soak-only")
  void slowReferenceIsNamedWhileItRuns() throws Exception {
    write(
        "slow.py",
        """
        import time

        once = [time.sleep]

        # inputs: f32[16, 40], 2.0
        def scale(x, by):
            if once:
                once.pop()(8)
            return x * by
        """);
    Kbx.Result result = eval("right.py", "--reference", "slow.py");
    assertThat(result.exit()).isZero();
    assertThat(result.err()).contains("slow.py: its calls are tried before anything is judged");
  }
}
