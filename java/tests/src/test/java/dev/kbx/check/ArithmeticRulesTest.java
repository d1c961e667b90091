package dev.kbx.check;

import static dev.kbx.check.TaskRules.KERNEL;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What kernels compute: something, of the inputs, at the precision asked for, at random. */
class ArithmeticRulesTest {
  private static final String ENTRY = "\ndef f(x):\n    kernel[(1,)](x, x, 9, B=16)\n";

  private static String kernel(String line) {
    return "@triton.jit\ndef kernel(x, out, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    "
        + line
        + ENTRY;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tl.store(out + i, 2.0)",
        "tl.store(out + i, tl.full((B,), float('nan'), tl.float32), mask=i < n)",
        "tl.store(out + i, tl.zeros((B,), tl.float32) + n)",
      })
  void constantResultIsFound(String line) {
    assertThat(TaskRules.forTask().find(kernel(line))).containsExactly("constant-result:2");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tl.store(out + i, tl.load(x + i))",
        "tl.store(out + i, tl.lod(x + i))", // The compiler says what is wrong with that.
        "tl.atomic_add(out, 1)",
        "tl.store(out + i, x.load([0]))",
        "helper(x, out)",
      })
  void kernelThatReadsOrMayReadIsAccepted(String line) {
    assertThat(TaskRules.forTask().find(kernel(line))).isEmpty();
  }

  @Test
  void factoryWithoutTensorArgumentsIsAccepted() {
    assertThat(
            TaskRules.forTask().reference("torch.logspace").find(kernel("tl.store(out + i, 2.0)")))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tl.store(out + i, tl.rand(42, i) * tl.load(x + i))",
        "tl.store(out + i, tl.load(x + i) * 0.5)",
      })
  void frozenRandomnessIsFound(String line) {
    assertThat(TaskRules.forTask().tags("random").find(kernel(line)))
        .singleElement()
        .asString()
        .startsWith("frozen-randomness:");
    assertThat(TaskRules.forTask().find(kernel(line))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "seed = torch.randint(9, (1,)).item()",
        "seed = torch.initial_seed()",
        "seed = int(torch.empty(1).uniform_())",
        "import random; seed = random.getrandbits(31)",
        "import itertools; seed = next(itertools.count())",
        "global calls; calls += 1",
        "f.calls = 1",
        "import time; seed = time.time_ns()",
        "seed = torch.poisson(x)",
      })
  void freshRandomnessIsAccepted(String line) {
    String code = kernel("tl.store(out + i, tl.rand(42, i) * tl.load(x + i))") + "    " + line;
    assertThat(TaskRules.forTask().tags("random").find(code)).isEmpty();
  }

  @Test
  void poolingMustDrawRandomNumbersItself() {
    String code = kernel("tl.store(out + i, tl.load(x + i))");
    String draws = "    return torch.nn.functional.fractional_max_pool2d(x, 2, 2)";
    assertThat(TaskRules.forTask().tags("random").find(code + draws))
        .noneMatch(found -> found.startsWith("frozen-randomness"));
  }

  @Test
  void missingQuantizationIsFound() {
    String code = kernel("tl.store(out + i, tl.load(x + i) / 127.0)");
    assertThat(TaskRules.forTask().tags("quantization").find(code))
        .containsExactly("never-quantizes:5");
    assertThat(TaskRules.forTask().find(code)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tl.store(out + i, tl.load(x + i).to(tl.int8))",
        "tl.store(out + i, tl.extra.cuda.libdevice.rint(tl.load(x + i)))",
        "tl.store(out + i, tl.floor(tl.load(x + i) + 0.5))",
        "tl.store(out + i, (tl.load(x + i) + 12582912.0) - 12582912.0)",
        "tl.store(out + i, tl.load(x + i).to(torch.int8))",
        "tl.store(out + i, tl.load(x + i).to(tl.float8e4nv))",
        "tl.store(out + i, tl.load(x + i).to(torch.float8_e5m2))",
        "tl.store(out + i, tl.inline_asm_elementwise('', '', [tl.load(x + i)], tl.float32, True,"
            + " 1))",
      })
  void kernelThatQuantizesOrMayQuantizeIsAccepted(String line) {
    assertThat(TaskRules.forTask().tags("quantization").find(kernel(line))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "input_precision='tf32'",
        "allow_tf32=True",
      })
  void tf32ProductIsFound(String option) {
    String code = kernel("tl.store(out, tl.dot(tl.load(x), tl.load(x), " + option + "))");
    assertThat(TaskRules.forTask().find(code)).containsExactly("precision-downgrade:4");
    assertThat(TaskRules.forTask().dtype("float16").find(code)).isEmpty();
  }

  @Test
  void halfPrecisionProductIsFound() {
    String dot = "tl.dot(tl.load(x).to(tl.bfloat16), tl.load(x).to(tl.bfloat16))";
    assertThat(TaskRules.forTask().find(kernel("tl.store(out, " + dot + ")")))
        .containsExactly("precision-downgrade:4");
    // A product split into several ones keeps the digits.
    assertThat(TaskRules.forTask().find(kernel("tl.store(out, " + dot + " + " + dot + ")")))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"input_precision='ieee'", "input_precision='tf32x3'", "allow_tf32=False"})
  void fullPrecisionProductIsAccepted(String option) {
    String code = kernel("tl.store(out, tl.dot(tl.load(x), tl.load(x), " + option + "))");
    assertThat(TaskRules.forTask().find(code)).isEmpty();
  }

  private static String product(String a, String options) {
    return kernel("a = " + a + "\n    tl.store(out, tl.dot(a, tl.load(x)" + options + "))");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tl.load(x + i.to(tl.int64))",
        "tl.trans(tl.load(x).to(tl.float32))",
        "tl.load(x).to(out.dtype.element_ty)",
      })
  void defaultInputPrecisionIsNoted(String operand) {
    String code = product(operand, ", acc=tl.zeros((B, B), tl.float32)");
    assertThat(TaskRules.forTask().find(code)).containsExactly("precision-downgrade:5");
    assertThat(TaskRules.forTask().severities(code)).containsExactly(Severity.NOTE);
    assertThat(TaskRules.forTask().dtype("float16").find(code)).isEmpty();
    assertThat(TaskRules.forTask().dtype("int8").find(code)).isEmpty();
    assertThat(TaskRules.forTask().tags("quantization").find(code))
        .doesNotContain("precision-downgrade:5");
    assertThat(TaskRules.forTask().find(code.replace("(x, x, 9", "(x.half(), x, 9"))).isEmpty();
    assertThat(TaskRules.forTask().find(code.replace("(x, x, 9", "(x.to(torch.int8), x, 9")))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tl.load(x).to(tl.bfloat16)",
        "tl.trans(tl.load(x).to(tl.int8))",
        "tl.cast(tl.load(x), tl.float16)",
        "tl.load(x).to(B)",
        "B",
      })
  void productsOfOtherDtypesAreAccepted(String operand) {
    assertThat(TaskRules.forTask().find(product(operand, ""))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {", None, 'ieee'", ", **options", ", input_precision=B"})
  void productsWithAPrecisionOptionAreAccepted(String options) {
    assertThat(TaskRules.forTask().find(product("tl.load(x)", options))).isEmpty();
  }

  @Test
  void ordinaryKernelIsAccepted() {
    assertThat(TaskRules.forTask().find(KERNEL + ENTRY)).isEmpty();
  }
}
