package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An expert's kernel must be correct before anything is judged beside it. */
class ExpertBaselineTest {
  private static final String REFERENCE =
      """
      import torch


      def doubled(x):
          return x + x


      def inputs():
          return [torch.randn(1000)]
      """;

  private static final String KERNEL =
      """
      import torch
      import triton
      import triton.language as tl


      @triton.jit
      def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
          i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
          tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)


      def doubled(x):
          x = x.contiguous()
          out = torch.empty_like(x)
          scale[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
          return out
      """;

  @TempDir private Path folder;

  private Kbx.Result judge(String expert) throws Exception {
    Path reference = Files.writeString(folder.resolve("ref.py"), REFERENCE);
    Path kernel = Files.writeString(folder.resolve("kernel.py"), KERNEL);
    Path baseline = folder.resolve("expert.py");
    if (!expert.isEmpty()) Files.writeString(baseline, expert);
    return beside(baseline, "eval", kernel, "--reference", reference);
  }

  private Kbx.Result beside(Object baseline, Object... command) throws Exception {
    List<Object> arguments = new ArrayList<>(List.of(command));
    arguments.addAll(List.of("--device", "cpu", "--seed", Kbx.SEED, "--baseline", baseline));
    arguments.addAll(List.of("--out", folder.resolve("out")));
    return Kbx.here(arguments.toArray());
  }

  @Test
  void wrongExpertEndsTheCommandInOneLine() throws Exception {
    Kbx.Result result = judge(KERNEL.replace("* 2.0", "* 2.5"));
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err())
        .contains("expert.py: the expert's kernel must be correct and is wrong_values: ");
    assertThat(result.out()).isEmpty();
  }

  @Test
  void expertMayCallLibraries() throws Exception {
    Kbx.Result result = judge("import torch\n\n\ndef doubled(x):\n    return torch.add(x, x)\n");
    assertThat(result.exit()).as(result.err()).isZero();
    assertThat(result.err()).contains("nothing is timed beside the expert's kernel");
  }

  @Test
  void nameThatIsNoFileIsRefused() throws Exception {
    Kbx.Result result = judge("");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err()).contains("is not one of eager,compile,max-autotune,best, and no file");
  }

  private Kbx.Result serve(String baseline) throws Exception {
    return beside(baseline, "serve", "--port", "0");
  }

  @Test
  void serverWithAWrongExpertDoesNotStart() throws Exception {
    String wrong = KERNEL.replace("def doubled", "def relu");
    Path expert = Files.writeString(folder.resolve("relu.py"), wrong);
    Kbx.Result result = serve(expert.toString());
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err())
        .contains("relu.py: the expert's kernel must be correct and is runtime_error: ")
        .doesNotContain("kbx: serving");
  }

  @Test
  void baselinesThatRequestsChooseAreNotTheServers() throws Exception {
    Kbx.Result result = serve("compile");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err())
        .isEqualTo(
            "kbx: --baseline compile: requests choose that one (plan.baseline); give files or"
                + " folders of an expert's kernels\n");
  }
}
