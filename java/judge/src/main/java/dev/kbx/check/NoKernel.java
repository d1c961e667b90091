package dev.kbx.check;

import dev.kbx.program.Access;
import dev.kbx.program.Program;
import dev.kbx.task.Task;
import java.util.Set;

/** Finds files without a Triton kernel. */
final class NoKernel implements Rule {
  /** Names in Triton that make kernels. */
  private static final Set<String> MAKERS = Set.of("jit", "JITFunction", "compile", "gluon");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "no-kernel",
        Severity.REJECT,
        "no Triton kernel",
        "The task asks for a Triton kernel. PyTorch, another library or Python computes the"
            + " result of this file, so its speed says nothing about a kernel.",
        "write the computation as @triton.jit functions of this file and launch them;"
            + " PyTorch may allocate, view, copy and cast",
        "import torch\n\n\n"
            + "def kernel_function(input):\n"
            + "    return torch.nn.functional.gelu(input)\n");
  }

  @Override
  public boolean policy() {
    return true;
  }

  @Override
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    if (context.task().isEmpty() || context.isCpp()) return;
    if (!program.readable() || !program.kernels().isEmpty()) return;
    if (program.accesses().stream().anyMatch(NoKernel::makes)) return;
    boolean modules = context.task().filter(Task::takesCpp).isPresent();
    if (modules && program.accesses().stream().anyMatch(NoKernel::makesInPackage)) return;
    context
        .entry()
        .ifPresent(entry ->
            report.found(entry.place(), "there is no Triton kernel anywhere in this file"));
  }

  private static boolean makes(Access access) {
    String path = access.path();
    if (!path.startsWith("triton.")) return false;
    for (String part : path.split("\\.", -1)) {
      if (MAKERS.contains(part.replace("()", ""))) return true;
    }
    return path.contains("?");
  }

  /** Whether it makes a kernel in TileLang or the CuTe DSL, which tasks for modules accept. */
  private static boolean makesInPackage(Access access) {
    String path = access.path();
    return path.startsWith("tilelang.jit") || path.startsWith("cutlass.cute.kernel");
  }
}
