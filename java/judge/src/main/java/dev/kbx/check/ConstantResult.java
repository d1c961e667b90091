package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Kernel;
import dev.kbx.program.Launch;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds files whose kernels read no memory, so that results do not depend on the inputs. */
final class ConstantResult implements Rule {
  /** Operations without an input tensor: their kernels need not read memory. */
  private static final Set<String> FACTORIES =
      Set.of(
          "arange",
          "bernoulli",
          "empty",
          "eye",
          "fill",
          "full",
          "full_like",
          "linspace",
          "logspace",
          "ones",
          "ones_like",
          "rand",
          "rand_like",
          "randint",
          "randn",
          "randn_like",
          "randperm",
          "zero",
          "zeros",
          "zeros_like");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "constant-result",
        Severity.REJECT,
        "kernels that read no input",
        "A result that does not depend on the inputs passes only by chance, under a"
            + " tolerance that is too wide.",
        "load the inputs in the kernel and store what it computes from them",
        "import torch\n"
            + "import triton\n"
            + "import triton.language as tl\n\n\n"
            + "@triton.jit\n"
            + "def mse_kernel(out_ptr):\n"
            + "    tl.store(out_ptr, 2.0)\n\n\n"
            + "def kernel_function(input, target):\n"
            + "    out = torch.empty((), device=input.device)\n"
            + "    mse_kernel[(1,)](out)\n"
            + "    return out\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    if (!context.wantsTriton() || !program.readable() || factory(context)) return;
    List<Kernel> kernels = program.kernels();
    boolean known = program.launches().stream().map(Launch::kernels).noneMatch(List::isEmpty);
    if (kernels.isEmpty() || program.launches().isEmpty() || !known) return;
    for (Call call : program.calls()) if (context.inKernel(call.scope()) && mayRead(call)) return;
    for (Kernel kernel : kernels) {
      Node title = kernel.scope().node().child("name");
      report.found(
          program.place(title == null ? kernel.scope().node() : title),
          kernel.name() + " reads no memory, nor does any other kernel of this file");
    }
  }

  private static boolean factory(RuleContext context) {
    List<String> operations = context.task().orElseThrow().operations();
    return operations.isEmpty()
        || operations.stream()
            .map(TorchOperation::of)
            .flatMap(Optional::stream)
            .anyMatch(operation -> FACTORIES.contains(operation.name()));
  }

  private static boolean mayRead(Call call) {
    if (call.targets().isEmpty() || call.of("?")) return true;
    for (String target : call.targets()) {
      String name = target.substring(target.lastIndexOf('.') + 1);
      boolean reads =
          name.contains("load")
              || name.contains("atomic")
              || name.contains("asm")
              || name.contains("gather")
              || name.contains("extern")
              || target.startsWith("triton.language.extra");
      if (reads) return true;
    }
    return false;
  }
}
