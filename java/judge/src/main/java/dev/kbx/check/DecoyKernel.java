package dev.kbx.check;

import dev.kbx.program.Kernel;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.HashSet;
import java.util.Set;

/** Finds kernels that nothing in the file launches. */
final class DecoyKernel implements Rule {
  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "decoy-kernel",
        Severity.REJECT,
        "a kernel that is never launched",
        "A kernel that does not run computes nothing: the result comes from somewhere else.",
        "launch the kernel, kernel[grid](…), from the entry and return what it stored",
        "import torch\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\n"
            + "def gelu_kernel(x_ptr):\n    tl.store(x_ptr, 0.0)\n\n\n"
            + "def kernel_function(input):\n    return torch.nn.functional.gelu(input)\n");
  }

  @Override
  public boolean policy() {
    return true;
  }

  @Override
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    if (context.entry().isEmpty() || context.isCpp()) return;
    if (!program.readable()) return;
    if (program.kernels().isEmpty() || !program.launches().isEmpty()) return;
    if (used(context)) return;
    for (Kernel kernel : program.kernels()) {
      Node title = kernel.scope().node().child("name");
      report.found(
          program.place(title == null ? kernel.scope().node() : title),
          kernel.name() + " is never launched, nor is any other kernel of this file");
    }
  }

  /** Whether code outside of kernels refers to a kernel. */
  private static boolean used(RuleContext context) {
    Program program = context.program();
    Set<String> paths = new HashSet<>();
    Set<Node> names = new HashSet<>();
    for (Kernel kernel : program.kernels()) {
      paths.add(kernel.scope().path());
      Node name = kernel.scope().node().child("name");
      if (name != null) names.add(name);
    }
    for (Node node : program.module().node().all()) {
      if (!node.is("identifier", "attribute", "subscript", "call") || names.contains(node))
        continue;
      boolean means = program.paths(node).stream().anyMatch(paths::contains);
      if (means && !context.inKernel(program.scopeOf(node))) return true;
    }
    return false;
  }
}
