package dev.kbx.check;

import static dev.kbx.check.TaskRules.KERNEL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.task.Policy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who computes: a kernel of the file, PyTorch, or another library. */
class LibraryRulesTest {
  private static final String LAUNCH = "    kernel[(1,)](x, y, 9, B=16)\n";

  private static List<String> find(String code) {
    return TaskRules.forTask().find(code);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "def f(x): return x + 1",
        "f = torch.special.logit",
        "class f:\n    def __new__(cls, x): return x.tanh()",
        "from torch.testing._internal.triton_utils import add_kernel\n"
            + "def f(x): add_kernel[(1,)](x, x, x, 1, BLOCK_SIZE=16)",
        "def f(x): return x * triton.cdiv(3, 2)",
      })
  void sourceWithoutKernelIsFound(String code) {
    assertThat(find(code)).anyMatch(found -> found.startsWith("no-kernel:"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "@triton.jit\ndef kernel(x): pass\ndef f(x): kernel[(1,)](x)",
        "jit = getattr(triton, 'jit')\n@jit\ndef kernel(x): pass\ndef f(x): kernel[(1,)](x)",
        "def made(x): pass\nkernel = triton.jit(made)\ndef f(x): kernel[(1,)](x)",
        "from triton.experimental import gluon\n@gluon.jit\ndef kernel(x): pass\n"
            + "def f(x): kernel[(1,)](x)",
        "exec(input())\ndef f(x): kernel[(1,)](x)",
        "from kernels_beside import *\ndef f(x): kernel[(1,)](x)",
      })
  void sourceThatHasOrMayHaveAKernelIsAccepted(String code) {
    assertThat(find(code)).noneMatch(found -> found.startsWith("no-kernel"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "y = torch.mm(x, x)",
        "y = x @ x",
        "y = x.matmul(x)",
        "y = torch.ops.aten.mm.default(x, x)",
        "y = getattr(torch, 'm' + 'm')(x, x)",
        "y = torch.nn.functional.linear(x, x)",
        "y = torch.einsum('ij,jk', x, x)",
        "import operator; y = operator.matmul(x, x)",
        "product = torch.mm; y = product(x, x)",
        "y = torch.empty_like(x).softmax(0)",
        "y = torch.\uff4d\uff4d(x, x)",
        "from torch.\uff4en import functional as F; y = F.\uff4cinear(x, x)",
        "y = x.\uff4datmul(x)",
      })
  void libraryCallIsFound(String line) {
    String code = KERNEL + "def f(x):\n    " + line + "\n" + LAUNCH + "    return y";
    assertThat(find(code)).containsExactly("library-call:6");
  }

  @Test
  void libraryCallInACalledFunctionIsFound() {
    String code = KERNEL + "def g(x): return torch.mm(x, x)\ndef f(x):\n    y = g(x)\n" + LAUNCH;
    assertThat(find(code)).containsExactly("library-call:5");
  }

  @Test
  void libraryCallAfterATrivialExitIsFound() {
    String trivial = "    if x.numel() == 0:\n        return torch.empty_like(x)\n";
    String code = KERNEL + "def f(x):\n" + trivial + "    y = torch.mm(x, x)\n" + LAUNCH;
    assertThat(find(code)).containsExactly("library-call:8");
  }

  @Test
  void soleOperationOfTheReferenceIsFound() {
    String code = KERNEL + "def f(x):\n    y = torch.erf(x)\n" + LAUNCH + "    return y";
    assertThat(TaskRules.forTask().reference("torch.special.erf").find(code))
        .containsExactly("library-call:6");
    assertThat(TaskRules.forTask().reference("torch.special.erf", "torch.sqrt").find(code))
        .isEmpty();
    String finished = KERNEL + "def f(x):\n" + LAUNCH + "    return y.sum()";
    assertThat(TaskRules.forTask().reference("torch.sum").find(finished)).isEmpty();
    String allocates =
        KERNEL + "def f(x):\n    y = torch.empty_like(x)\n" + LAUNCH + "    return y";
    assertThat(TaskRules.forTask().reference("torch.empty_like").find(allocates))
        .as("of a reference that launches Triton kernels")
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "    if not x.is_cuda:\n        return torch.mm(x, x)\n" + LAUNCH,
        "    if x.is_cuda:\n    " + LAUNCH + "        return y\n    return torch.mm(x, x)\n",
        "    try:\n    " + LAUNCH + "    except Exception:\n        return torch.mm(x, x)\n",
        "    y = torch.mm(x, x) if x.dim() > 9 else x\n" + LAUNCH,
      })
  void libraryFallbackIsANote(String body) {
    assertThat(find(KERNEL + "def f(x):\n    y = x.new_empty(9)\n" + body))
        .singleElement()
        .asString()
        .startsWith("library-fallback:");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "def reference(x): return torch.mm(x, x)\ndef f(x):\n" + LAUNCH,
        "def f(x):\n" + LAUNCH + "if __name__ == '__main__':\n    torch.mm(f(1), f(2))",
        "def f(x):\n    y = torch.nn.functional.pad(x, (1, 1)).contiguous()\n" + LAUNCH,
        "def f(x):\n" + LAUNCH + "    return y.sum(0)",
        "class Config:\n    def matmul(self, x): return x\ndef f(x, c=None):\n"
            + "    c.matmul(x)\n"
            + LAUNCH,
        "class M:\n    def __matmul__(self, x): return x\ndef f(x):\n    y = x @ x\n" + LAUNCH,
        "def f(x):\n    weight = torch.nn.Linear(3, 3)\n" + LAUNCH,
      })
  void callsOutsideTheLibraryAreAccepted(String code) {
    assertThat(find(KERNEL + code)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "@torch.compile\ndef f(x): return x",
        "@torch.compile(dynamic=True)\ndef g(x): return x\ndef f(x): return g(x)",
        "def g(x): return x\ng = torch.jit.trace(g, (1,))\ndef f(x): return g(x)",
        "def f(x): return torch.compile(torch.sin)(x)",
      })
  void torchCompileIsFound(String code) {
    assertThat(find(KERNEL + code)).anyMatch(found -> found.startsWith("torch-compile:"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "@torch.compiler.disable\ndef f(x):\n" + LAUNCH,
        "@torch.compile\ndef baseline(x): return x\ndef f(x):\n" + LAUNCH,
        "import re\npattern = re.compile('x')\ndef f(x):\n" + LAUNCH,
      })
  void sourceWithoutTorchCompileIsAccepted(String code) {
    assertThat(find(KERNEL + code)).isEmpty();
  }

  @Test
  void decoyKernelIsFound() {
    assertThat(find(KERNEL + "def f(x): return x.tanh()")).containsExactly("decoy-kernel:2");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "def f(x): kernel[(1,)](x, x, 1, B=16)",
        "def f(x): kernel.run(x, x, 1, B=16, grid=(1,))",
        "KERNELS = {1: kernel}\ndef f(x): KERNELS[1][(1,)](x, x, 1, B=16)",
        "def launch(k, x): k[(1,)](x, x, 1, B=16)\ndef f(x): launch(kernel, x)",
        "def f(x): globals()['ker' + 'nel'][(1,)](x, x, 1, B=16)",
      })
  void launchedKernelIsNotADecoy(String code) {
    assertThat(find(KERNEL + code)).isEmpty();
  }

  @Test
  void otherKernelLibraryIsFound() {
    String imported = "try:\n    import cupy\nexcept ImportError:\n    cupy = None\n";
    String used = KERNEL + imported + "def f(x):\n    y = cupy.sin(x)\n" + LAUNCH;
    assertThat(find(used)).containsExactly("other-library:10");
    assertThat(find(KERNEL + imported + "def f(x):\n" + LAUNCH)).isEmpty();
    String guarded = "def f(x):\n    if cupy is not None: x = cupy.asarray(x)\n";
    assertThat(find(KERNEL + imported + guarded + LAUNCH)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "torch_device_fn.device(x.device)",
        "flag_gems.runtime.torch_device_fn.device(x.device.index)",
        "cupy.cuda.Device(0)",
      })
  void deviceGuardOfAnotherLibraryIsAccepted(String guard) {
    String code =
        KERNEL
            + "import cupy, flag_gems\nfrom flag_gems.runtime import torch_device_fn\n"
            + "def f(x):\n    with %s:\n    "
            + LAUNCH;
    assertThat(find(code.formatted(guard))).isEmpty();
    assertThat(find(code.formatted(guard + ", cupy.sin(x)"))).containsExactly("other-library:8");
    assertThat(find(code.formatted(guard + " as y"))).containsExactly("other-library:8");
    assertThat(find(code.formatted("cupy.matmul(x, x)"))).containsExactly("other-library:8");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "from kernelbenchx.Math.f import f as reference",
        "import tasks.kernelbenchx.Math",
        "import importlib; importlib.import_module('kbx.suite')",
        "__import__('KernelBench')",
      })
  void importOfTheReferenceIsFound(String line) {
    assertThat(find(KERNEL + line + "\ndef f(x):\n" + LAUNCH)).contains("reference-import:5");
  }

  @Test
  void mainBlockMayImportTheReference() {
    String script = "if __name__ == '__main__':\n    from kernelbench.eval import run\n";
    assertThat(find(KERNEL + "def f(x):\n" + LAUNCH + script)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"import tasks", "import numpy as kbx", "kbx = 1", "# import kbx"})
  void unrelatedImportIsAccepted(String line) {
    assertThat(find(KERNEL + line + "\ndef f(x):\n" + LAUNCH)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Own.apply(x)",
        "Inherited.apply(x)",
        "wrap_triton(kernel)[(1,)](x, x, 1, B=16)",
        "torch.ops.mine.f(x)",
      })
  void fallbackAfterAnIndirectLaunchIsANote(String launch) {
    String differentiable =
        """
        from torch.library import wrap_triton
        class Own(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                kernel[(1,)](x, x, 1, B=16)
                return x
        class Inherited(Own): pass
        """;
    String entry =
        "def f(x):\n    if x.is_cuda: return " + launch + "\n    return torch.mm(x, x)\n";
    assertThat(find(KERNEL + differentiable + entry)).containsExactly("library-fallback:14");
  }

  @ParameterizedTest
  @ValueSource(strings = {"torch.mm(x, x)", "cupy.dot(x, x)"})
  void unparsedSourceGivesNoCertainFinding(String fallback) {
    String launched =
        "def f(x):\n    if x.is_cuda:\n        y = g(x)\n        return y, *[None] * 3\n";
    String code = KERNEL + "import cupy\ndef g(x): kernel[(1,)](x, x, 1, B=16)\n" + launched;
    assertThat(find(code + "    return " + fallback))
        .noneMatch(found -> found.startsWith("library-call") || found.startsWith("other-library"));
  }

  static List<Rule> rules() {
    return Rules.all().list().stream().filter(rule -> TaskRules.covers(rule.info().id())).toList();
  }

  @ParameterizedTest
  @MethodSource("rules")
  void eachRuleFindsItsExample(Rule rule) {
    String example = "\n\n\n" + rule.info().example();
    String tag = rule.info().id().equals("never-quantizes") ? "quantization" : "random";
    assertThat(TaskRules.forTask().tags(tag).find(example, ""))
        .anyMatch(found -> found.startsWith(rule.info().id() + ":"));
  }

  @Test
  void libraryWorkIsAFlagAtPolicyMixed() {
    String code = "def f(x): return torch.mm(x, x)";
    TaskRules imported = TaskRules.forTask().tags("imported");
    assertThat(imported.find(code)).containsExactly("no-kernel:1", "library-call:1");
    assertThat(imported.severities(code)).containsOnly(Severity.FLAG);
    assertThat(TaskRules.forTask().severities(code)).containsOnly(Severity.REJECT);
  }

  @Test
  void libraryWorkIsANoteAtPolicyAny() {
    String code = "def f(x): return torch.mm(x, x)";
    assertThat(TaskRules.forTask().tags(Policy.ANY_TAG).severities(code))
        .containsOnly(Severity.NOTE);
  }
}
