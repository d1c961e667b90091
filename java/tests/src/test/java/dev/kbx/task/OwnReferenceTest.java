package dev.kbx.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.TestPython;
import dev.kbx.syntax.SyntaxCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How a user's own reference is read, and the task files that are made of it. */
class OwnReferenceTest {
  private static final String TWO =
      """
      \"""Two of them.\"""
      import torch

      def inputs():
          return torch.rand(4)

      def _helper(x): return x

      def first(x): return _helper(x)

      def second(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
          return x
      """;

  private static final String MODEL =
      """
      from __future__ import annotations
      import torch

      class Model(torch.nn.Module):
          def __init__(self, n):
              super().__init__()

          def forward(self, x):
              return x

      def get_inputs(): return [torch.rand(4)]

      def helper(): ...
      """;

  private static final OwnTask.Calls NONE = new OwnTask.Calls();

  @TempDir private Path folder;

  private OwnReference read(String text, String name) throws IOException {
    Path file = folder.resolve("my ref.py");
    Files.writeString(file, text);
    return OwnReference.read(file + name, TestPython.syntax());
  }

  private void refused(String text, String name, String message) {
    assertThatThrownBy(() -> read(text, name))
        .isInstanceOf(InvalidSuite.class)
        .hasMessage(message.replace("FILE", folder.resolve("my ref.py").toString()));
  }

  private Task task(OwnReference reference) throws IOException {
    Path suite = reference.write(folder.resolve("kept"));
    Suite opened = Suites.open(suite.toString(), folder.resolve("none"));
    assertThat(opened.broken()).isEmpty();
    return opened.ofOwnReference().orElseThrow();
  }

  @Test
  void aFunctionIsATaskWithItsNameAndSignature() throws IOException {
    Task task = task(read(TWO, ":second"));
    assertThat(task.path()).isEqualTo("own/second");
    assertThat(task.signature())
        .isEqualTo("second(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor");
    assertThat(task.entries()).contains("second");
    assertThat(task.isOwn()).isTrue();
    assertThat(task.original()).contains(folder.resolve("my ref.py"));
    assertThat(Policy.usual(task)).isEqualTo(Policy.KERNEL);
    assertThat(task.takesCpp()).isTrue();
  }

  @Test
  void gradientsAreATaskOfTheirOwn() throws IOException {
    OwnReference forward = read(TWO, ":second");
    Task before = task(forward);
    OwnReference backward = forward.gradients();
    Task task = task(backward);
    assertThat(task.path()).isEqualTo("own/second_backward");
    assertThat(task.signature())
        .isEqualTo("second_backward(grad_output, x: torch.Tensor, eps: float = 1e-5)");
    assertThat(task.entries()).contains("second_backward");
    assertThat(task.reference()).contains("def second(x");
    assertThat(task.original()).contains(folder.resolve("my ref.py"));
    assertThat(task.digest()).isNotEqualTo(before.digest());
    assertThat(task.suite()).isNotEqualTo(before.suite());
    assertThat(backward.label()).startsWith("reference my ref.py:second --backward (");
  }

  @Test
  void gradientsOfAModelAreATaskForModelNew() throws IOException {
    Task task = task(read(MODEL, "").gradients());
    assertThat(task.path()).isEqualTo("own/my_ref_backward");
    assertThat(task.signature()).isEqualTo("ModelNew(n).forward(x)");
    assertThat(task.statement())
        .contains("of its floating-point tensor inputs and of its parameters");
    assertThat(task.digest()).isNotEqualTo(task(read(MODEL, "")).digest());
  }

  @Test
  void aModelIsATaskForModelNew() throws IOException {
    OwnReference reference = read(MODEL, "");
    Task task = task(reference);
    assertThat(task.path()).isEqualTo("own/my_ref");
    assertThat(task.signature()).isEqualTo("ModelNew(n).forward(x)");
    assertThat(read(MODEL, ":Model").label()).isEqualTo(reference.label());
    assertThat(read(MODEL, ":helper").name()).isEqualTo("helper");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "def f(x): return x\\n\\ndef main(): f(1) | f",
        "def f(x): return x\\n\\ndef test_f(): f(1)\\n\\ndef check_all(): test_f() | f",
        "def rotate(x): return x\\n\\ndef rope(x): return rotate(x)\\n\\ndef main(): rope(1) |"
            + " rope",
        "def a(x): return x\\n\\n# inputs: f32[4]\\ndef b(x): return x | b",
        "@triton.jit\\ndef kernel(x): pass\\n\\ndef f(x): kernel[(1,)](x) | f",
        "def generate_input(size): return size\\n\\ndef ref_kernel(data): return data | ref_kernel",
        "def _f(x, a): return x\\n\\nf = functools.partial(_f, a=1) | f",
        "def _f(x): return x\\n\\nN = int(4)\\nf = torch.compile(_f, mode='max-autotune') | f",
        "f = lambda x: x | f",
      })
  void theOneThatCanBeMeantIsTheReference(String text, String name) throws IOException {
    OwnReference reference = read(text.replace("\\n", "\n"), "");
    assertThat(reference.name()).isEqualTo(name);
    assertThat(task(reference).signature()).startsWith(name + "(");
  }

  @Test
  void candidatesMayLeaveOutThatANameIsAReferences() throws IOException {
    String text = "def softmax_ref(x): return x\n";
    assertThat(task(read(text, "")).entries())
        .containsExactly("softmax_ref", "softmax", "kernel_function");
    assertThat(task(read(text.replace("softmax_ref", "torch_add"), "")).entries()).contains("add");
    assertThat(task(read(text.replace("softmax_ref", "ref_kernel"), "")).entries())
        .contains("custom_kernel");
    assertThat(task(read(text.replace("softmax_ref", "f"), "")).entries())
        .containsExactly("f", "kernel_function");
  }

  @Test
  void suiteAndDigestDependOnTheContent() throws IOException {
    OwnReference before = read(TWO, ":first");
    Task task = task(before);
    String digest = task.digest();
    assertThat(before.write(folder.resolve("kept"))).hasFileName(task.suite());
    OwnReference after = read(TWO + "\n", ":first");
    assertThat(after.label()).isNotEqualTo(before.label());
    assertThat(task(after).suite()).isNotEqualTo(task.suite());
    assertThat(task.digest()).isNotEqualTo(digest);
  }

  @Test
  void modulesImportedBesideTheReferenceBelongToIt() throws IOException {
    String text = "import torch, ops as o\nfrom pack.inner import g\n\ndef f(x):\n  return x\n";
    Path ops = Files.writeString(folder.resolve("ops.py"), "def h():\n  import deep.er\n");
    Path inner = Files.createDirectory(folder.resolve("pack")).resolve("inner.py");
    Files.writeString(inner, "from . import other\n");
    Files.writeString(folder.resolve("pack/other.py"), "");
    Path deep = Files.createDirectory(folder.resolve("deep")).resolve("er.py");
    Files.writeString(deep, "");
    Files.writeString(folder.resolve("unrelated.py"), "");
    OwnReference before = read(text, "");
    assertThat(before.imported().keySet())
        .containsExactlyInAnyOrder(ops, inner, folder.resolve("pack/other.py"), deep);
    Task task = task(before);
    assertThat(Files.readString(task.file())).contains("imported={", "er.py");
    Files.writeString(deep, "changed = 1\n");
    OwnReference after = read(text, "");
    assertThat(after.label()).isNotEqualTo(before.label());
    assertThat(task(after).digest()).isNotEqualTo(task.digest());
    Files.writeString(folder.resolve("unrelated.py"), "changed = 1\n");
    assertThat(read(text, "").label()).isEqualTo(after.label());
  }

  @Test
  void unreadableReferenceIsAOneLineError() {
    refused(TWO, "", "FILE: defines first, second: name the reference, as in FILE:second");
    refused(TWO, ":third", "FILE: defines no function third; it has first, second");
    refused(
        "import torch\n",
        "",
        "FILE: defines neither a class Model with methods nor a function to compare with");
    refused(
        "class RMSNorm(nn.Module):\n    def forward(self, x): return x\n",
        "",
        "FILE: defines the class RMSNorm: call it Model, and add get_inputs(); its candidates"
            + " define ModelNew");
    refused(
        "def test_f(): pass\n",
        "",
        "FILE: defines neither a class Model with methods nor a function to compare with; it has"
            + " only test_f");
    refused("def f(x:\n    return x\n", "", "FILE:1: '(' was never closed: def f(x:");
    assertThatThrownBy(() -> OwnReference.read(folder.toString(), SyntaxCheck.PARSER))
        .hasMessage(folder + ": is a folder; name a Python file with a reference");
    assertThatThrownBy(() -> OwnReference.read(folder + "/none.py:f", SyntaxCheck.PARSER))
        .hasMessage(folder + "/none.py: there is no such file, or it cannot be read");
  }

  @Test
  void aFullTaskHasTheReferencesCodeAndOtherNames() throws IOException {
    String function = OwnTask.VARIED.text(read(TWO, ":second"), NONE);
    assertThat(function)
        .startsWith("\"\"\"Two of them.\n\"\"\"\n\nfrom kbx.suite import Close, drawn\n")
        .contains("ENTRY = \"second\"", "def drawn_inputs():", "variation=\"special_values\"")
        .containsOnlyOnce("Two of them.");
    assertThat(OwnTask.PLAIN.text(read(TWO, ":second"), NONE)).doesNotContain("variation=\"");
    assertThat(
            OwnTask.VARIED.text(
                read(TWO, ":second"),
                new OwnTask.Calls(List.of(0, 2), List.of("x", "y"), List.of())))
        .contains("\nMUTATES = (\"x\", \"y\",)\n", "[\n    dict(number=0),\n    dict(number=2),\n]")
        .contains("drawn(make, drawn_inputs, number, variation, of=second)");
    assertThat(
            OwnTask.VARIED.text(
                read(MODEL, ""), new OwnTask.Calls(List.of(), List.of("x"), List.of())))
        .contains("\nMUTATES = (\"x\",)\n");
    String module = OwnTask.VARIED.text(read(MODEL, ""), NONE);
    assertThat(function + module).doesNotContain("MUTATES");
    assertThat(module).startsWith("\"\"\"What `Model` below computes.\n\"\"\"\n\nfrom __future__");
    assertThat(module).contains("class Model(", "return drawn(make, get_inputs)", "PUBLISHED = {}");
  }

  @Test
  void aFullTaskOfGradientsHasTheForwardAndSaysSo() throws IOException {
    OwnTask.Calls calls = new OwnTask.Calls(List.of(0), List.of(), List.of("dy_0", "dy_1"));
    String function = OwnTask.VARIED.text(read(TWO, ":second").gradients(), calls);
    assertThat(function)
        .startsWith("\"\"\"The gradients of `second` below, of each of its floating-point tensor")
        .contains(" `second` computes:\n\nTwo of them.\n\"\"\"")
        .contains("ENTRY = \"second_backward\"\nFORWARD = \"second\"\n")
        .contains("def second(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:\n    return x\n")
        .contains("\ndef second_backward(dy_0, dy_1, x: torch.Tensor, eps: float = 1e-5): ...")
        .contains("drawn(make, drawn_inputs, number, variation, of=second)");
    String module = OwnTask.VARIED.text(read(MODEL, "").gradients(), NONE);
    assertThat(module)
        .startsWith("\"\"\"The gradients of `Model` below, of its floating-point tensor inputs and")
        .contains("\nFORWARD = \"Model\"\nDTYPE", "class Model(")
        .doesNotContain("` computes", "_backward(");
  }

  @Test
  void aFullTaskDrawsAsTheReferencesFileDoes() throws IOException {
    String given = "def get_inputs():\n    return [1]\n\ndef f(x): return x\n";
    assertThat(OwnTask.PLAIN.text(read(given, ""), NONE))
        .contains("return drawn(make, get_inputs, number, variation, of=f)");
    String generated =
        "# inputs: size=9\n# inputs: size=70\ndef generate_input(size):\n    return size\n\n"
            + "def ref_kernel(data): return data\n";
    assertThat(OwnTask.PLAIN.text(read(generated, ""), NONE))
        .contains("    return [generate_input(size=9), generate_input(size=70)]\n")
        .contains("return drawn(make, drawn_inputs, number, variation, of=ref_kernel)");
  }

  @Test
  void commentsOfArgumentsBecomeCases() throws IOException {
    String text =
        """
        import torch

        # inputs: bf16[4, 8], 0.5
        # inputs: bf16[9], 0.5
        @torch.no_grad()
        def scale(x, by):
            return x * by
        """;
    assertThat(
            OwnTask.LAID_OUT.text(
                read(text, ""), new OwnTask.Calls(List.of(0, 1), List.of(), List.of())))
        .contains(
            "DTYPE = \"bfloat16\"",
            "    \"bf16[4, 8], 0.5\",\n    \"bf16[9], 0.5\",\n",
            "dict(number=1),\n    dict(number=0, variation=\"non_contiguous\"),\n]",
            "return noted(make, ARGUMENTS[number], variation)");
  }
}
