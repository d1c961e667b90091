package dev.kbx.check;

import dev.kbx.program.Kernel;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;

/** Kernels are defined, and nothing in the file launches one. */
final class DecoyKernel implements Rule {
  @Override
  public About about() {
    return new About(
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
  public void check(Subject subject, Report report) {
    Program program = subject.program();
    if (!Policies.apply(subject) || !program.readable() || Entry.of(subject).isEmpty()) return;
    if (program.kernels().isEmpty() || !program.launches().isEmpty()) return;
    if (program.kernels().stream().anyMatch(kernel -> used(program, kernel))) return;
    for (Kernel kernel : program.kernels()) {
      Node title = kernel.scope().node().child("name");
      report.found(
          program.place(title == null ? kernel.scope().node() : title),
          kernel.name() + " is never launched, and neither is any other kernel");
    }
  }

  /** Something outside of kernels refers to it, by name or in a way that cannot be read. */
  private static boolean used(Program program, Kernel kernel) {
    for (Node node : program.module().node().all()) {
      if (!node.is("identifier", "attribute", "subscript", "call")) continue;
      boolean inKernel =
          program.kernels().stream().anyMatch(each -> program.scopeOf(node).within(each.scope()));
      if (inKernel || node.equals(kernel.scope().node().child("name"))) continue;
      if (program.paths(node).contains(kernel.scope().path())) return true;
    }
    return false;
  }
}
