package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * {@code --backward} with a reference of one's own, in {@code kbx eval} and {@code kbx tasks new}.
 */
class OwnGradientsTest extends OwnReferenceCase {
  private static final String BACKWARD =
      """
      import torch
      import triton
      import triton.language as tl

      @triton.jit
      def kernel(dy, x, by, dx, dby, R, C, B: tl.constexpr):
          c = tl.program_id(0)
          r = tl.arange(0, B)
          at = r * C + c
          g = tl.load(dy + at, mask=r < R, other=0.0)
          v = tl.load(x + at, mask=r < R, other=0.0)
          tl.store(dx + at, g * tl.load(by + c), mask=r < R)
          tl.store(dby + c, REDUCED)

      class Scale(torch.autograd.Function):
          @staticmethod
          def forward(ctx, x, by):
              ctx.save_for_backward(x, by)
              return torch.empty_like(x)

          @staticmethod
          def backward(ctx, dy):
              x, by = ctx.saved_tensors
              dy, x, by = dy.contiguous(), x.contiguous(), by.contiguous()
              dx, dby = torch.empty_like(x), torch.empty_like(by)
              kernel[(x.shape[1],)](dy, x, by, dx, dby, *x.shape, triton.next_power_of_2(x.shape[0]))
              return dx, dby

      def scale_backward(dy, x, by):
          x, by = x.detach().requires_grad_(), by.detach().requires_grad_()
          Scale.apply(x, by).backward(dy)
          return x.grad, by.grad
      """;

  @Test
  void gradientsOfTheReferenceAreJudged() throws Exception {
    write("my_ref.py", REFERENCE.replace("f32[16, 40], 2.0", "f32[16, 40], f32[40]"));
    write("right.py", BACKWARD.replace("REDUCED", "tl.sum(g * v)"));
    write("wrong.py", BACKWARD.replace("REDUCED", "tl.sum(g * v) / R"));
    String derived = BACKWARD.substring(0, BACKWARD.indexOf("class Scale"));
    write(
        "library.py",
        derived.replace("REDUCED", "tl.sum(g * v)")
            + """
            def scale_backward(dy, x, by):
                x, by = x.detach().requires_grad_(), by.detach().requires_grad_()
                kernel[(40,)](dy.contiguous(), x, by, torch.empty_like(x), torch.empty_like(by), 16, 40, 16)
                torch.autograd.backward([x * by], [dy])
                return x.grad, by.grad
            """);
    Object[] judged = {
      "right.py", "wrong.py", "library.py", "--reference", "my_ref.py", "--backward", "--json"
    };
    Kbx.Result result = eval(judged);
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.json().get("verdicts").values())
        .extracting(verdict -> verdict.get("status").asString())
        .containsExactly("correct", "wrong_values", "cheating");
    JsonNode right = result.json().get("verdicts").get(0);
    assertThat(right.get("task").asString()).isEqualTo("scale_backward");
    assertThat(right.get("holds").values())
        .extracting(JsonNode::asString)
        .contains("non_contiguous", "wide_values");
    assertThat(result.json().get("run").get("suite").asString())
        .startsWith("reference my_ref.py:scale --backward (");
    Kbx.Result other =
        eval("right.py", "wrong.py", "library.py", "--reference", "my_ref.py", "--resume");
    assertThat(other.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(other.err()).contains("on reference my_ref.py:scale --backward (");
  }

  private static final String MODEL =
      """
      import torch

      class Model(torch.nn.Module):
          def __init__(self):
              super().__init__()
              self.by = torch.nn.Parameter(torch.rand(40))

          def forward(self, x):
              return x * self.by

      def get_inputs():
          return [torch.randn(16, 40)]
      """;

  /** A candidate for {@code MODEL}. */
  private static String modelOf(String result) {
    String kernels =
        BACKWARD
            .substring(0, BACKWARD.indexOf("def scale_backward"))
            .replace("other=0.0)", "other=0.0).to(tl.float32)");
    String model =
        MODEL
            .substring(MODEL.indexOf("class"), MODEL.indexOf("def get"))
            .replace("Model", "ModelNew");
    return kernels + model.replace("x * self.by", result);
  }

  @Test
  void gradientsOfAModelAreJudged() throws Exception {
    write("my_ref.py", MODEL);
    String own = modelOf("Scale.apply(x, self.by)");
    write("right.py", own.replace("REDUCED", "tl.sum(g * v)"));
    write("wrong.py", own.replace("REDUCED", "tl.sum(g * v) / R"));
    write(
        "uncut.py",
        own.replace("REDUCED", "tl.sum(g * v)").replace("(x, self.by)", "(x, self.by.detach())"));
    write("library.py", modelOf("x * self.by"));
    write("nothing.py", own.replace("Scale.apply(x, self.by)", "torch.empty_like(x)"));
    Kbx.Result result =
        eval(
            "right.py",
            "wrong.py",
            "uncut.py",
            "nothing.py",
            "library.py",
            "--reference",
            "my_ref.py",
            "--backward",
            "--json");
    assertThat(result.exit()).as(result.err()).isZero();
    List<JsonNode> verdicts = List.copyOf(result.json().get("verdicts").values());
    assertThat(verdicts)
        .extracting(verdict -> verdict.get("status").asString())
        .containsExactly(
            "correct", "wrong_values", "wrong_values", "runtime_error", "not_a_kernel");
    assertThat(verdicts.getFirst().get("task").asString()).isEqualTo("my_ref_backward");
    assertThat(verdicts.getFirst().get("holds").values())
        .extracting(JsonNode::asString)
        .contains("non_contiguous", "wide_values", "other_weights", "dtype:bfloat16");
    assertThat(verdicts.get(1).get("message").asString()).contains("output['self.by']");
    assertThat(verdicts.get(2).get("message").asString()).contains("output['self.by']");
    assertThat(verdicts.get(3).get("message").asString())
        .contains("ModelNew has 0 results that can be differentiated, and Model 1; kernels are");
  }

  @Test
  void aReferenceWithoutAGradientIsRefused() throws Exception {
    write("my_ref.py", REFERENCE.replace("x * by", "x.argmax(-1)"));
    Kbx.Result result = eval("right.py", "--reference", "my_ref.py", "--backward");
    assertThat(result.exit()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err())
        .contains("my_ref.py:4: scale() returns nothing that PyTorch can differentiate (i64[16])");
  }

  private Path newTask(String name, Object... more) throws Exception {
    Path suite = folder.resolve("suite");
    List<Object> all = new ArrayList<>(List.of("tasks", "new", name, "--from"));
    all.addAll(List.of(folder.resolve("my_ref.py"), "--output", suite, "--device", "cpu"));
    all.addAll(List.of(more));
    Kbx.Result made = Kbx.here(all.toArray());
    assertThat(made.exit()).as(made.err()).isZero();
    assertThat(made.out()).contains("written: ").doesNotContain("control ");
    List<Object> verify = new ArrayList<>(List.of("tasks", "verify", name, "--suite", suite));
    verify.addAll(List.of("--device", "cpu", "--out", folder.resolve("controls")));
    Kbx.Result verified = Kbx.here(verify.toArray());
    assertThat(verified.out()).as(verified.err()).contains("1 of 1 tasks sound");
    return suite;
  }

  private List<String> statuses(Path suite, String task, String... sources) throws Exception {
    List<String> found = new ArrayList<>();
    for (String source : sources) {
      Path file = Files.createDirectories(folder.resolve(source)).resolve(task + ".py");
      Files.copy(folder.resolve(source + ".py"), file);
      Kbx.Result result =
          Kbx.here(
              "eval",
              file,
              "--suite",
              suite,
              "--device",
              "cpu",
              "--out",
              folder.resolve("judged"),
              "--json");
      assertThat(result.exit()).as(result.err()).isZero();
      found.add(result.json().get("verdicts").get(0).get("status").asString());
    }
    return found;
  }

  @Test
  void aTaskFileMayBeOfTheGradientsOfAFunction() throws Exception {
    write("my_ref.py", REFERENCE.replace("f32[16, 40], 2.0", "f32[16, 40], f32[40]"));
    write("right.py", BACKWARD.replace("REDUCED", "tl.sum(g * v)"));
    write("wrong.py", BACKWARD.replace("REDUCED", "tl.sum(g * v) / R"));
    Path suite = newTask("grads", "--backward");
    assertThat(statuses(suite, "grads", "right", "wrong"))
        .containsExactly("correct", "wrong_values");
    Kbx.Result shown = Kbx.here("tasks", "show", "grads", "--suite", suite, "--prompt");
    assertThat(shown.out())
        .as(shown.err())
        .contains("scale_backward(grad_output, x, by)", "The gradients of `scale` below")
        .contains("def scale(x, by):\n    return x * by");
    Path file = suite.resolve("own/grads.py");
    String text = Files.readString(file);
    Files.writeString(file, text.replace("(grad_output, x, by)", "(x, by)"));
    Object[] verify = {"tasks", "verify", "grads", "--suite", suite, "--device", "cpu"};
    Kbx.Result other = Kbx.here(PrecisionTest.with(verify, "--out", folder.resolve("controls")));
    assertThat(other.out() + other.err())
        .contains(
            "scale_backward() takes (x, by), and what FORWARD makes of it (grad_output, x, by)");
  }

  @Test
  void aTaskFileMayBeOfTheGradientsOfAModel() throws Exception {
    write("my_ref.py", MODEL);
    String own = modelOf("Scale.apply(x, self.by)");
    write("right.py", own.replace("REDUCED", "tl.sum(g * v)"));
    write("wrong.py", own.replace("REDUCED", "tl.sum(g * v) / R"));
    assertThat(statuses(newTask("grads", "--backward"), "grads", "right", "wrong"))
        .containsExactly("correct", "wrong_values");
  }
}
