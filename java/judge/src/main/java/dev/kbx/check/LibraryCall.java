package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import dev.kbx.task.Task;
import java.util.List;
import java.util.Optional;

/** Finds PyTorch operations that compute in every call what the task asks a kernel for. */
final class LibraryCall implements Rule {
  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "library-call",
        Severity.REJECT,
        "a library call in place of a kernel",
        "PyTorch does the computation or its most expensive part, so kbx would time"
            + " PyTorch's kernel.",
        "compute it in a Triton kernel of this file; PyTorch may allocate, view, copy, cast"
            + " and finish small partial results",
        "import torch\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\n"
            + "def scale_kernel(c_ptr, alpha, BLOCK: tl.constexpr):\n"
            + "    i = tl.arange(0, BLOCK)\n"
            + "    tl.store(c_ptr + i, alpha * tl.load(c_ptr + i))\n\n\n"
            + "def kernel_function(a, b, alpha):\n    c = torch.mm(a, b)\n"
            + "    scale_kernel[(1,)](c, alpha, BLOCK=1024)\n    return c\n");
  }

  @Override
  public boolean policy() {
    return true;
  }

  @Override
  public void check(RuleContext context, Report report) {
    if (context.task().isEmpty() || !context.program().parsed()) return;
    Program program = context.program();
    for (EntryAnalysis entry : context.entry().stream().toList()) {
      for (Call call : entry.sureCalls()) {
        computed(call, context)
            .ifPresent(operation ->
                report.found(
                    call.place(),
                    operation.shown()
                        + " computes in every call what a kernel of this file must compute"));
      }
      if (named(program, "__matmul__", "__rmatmul__")) continue;
      for (Node node : entry.sureNodes("binary_operator")) {
        if (node.children().stream().anyMatch(child -> child.is("@"))) {
          report.found(program.place(node), "the operator @ multiplies with PyTorch on every call");
        }
      }
    }
  }

  private static Optional<TorchOperation> computed(Call call, RuleContext context) {
    if (call.targets().size() != 1) return Optional.empty();
    String path = call.targets().iterator().next();
    if (path.equals("_operator.matmul") || path.equals("operator.matmul")) {
      return Optional.of(new TorchOperation("matmul", path));
    }
    return TorchOperation.of(path)
        .filter(operation -> operation.whole() || alone(operation, context))
        .filter(operation -> !operation.method() || !named(context.program(), operation.name()));
  }

  /** Whether the reference consists of this operation alone. */
  private static boolean alone(TorchOperation operation, RuleContext context) {
    List<String> wanted = context.task().map(Task::operations).orElse(List.of());
    if (wanted.size() != 1 || operation.finishing() || operation.idle()) return false;
    return TorchOperation.of(wanted.getFirst())
        .filter(reference -> reference.name().equals(operation.name()))
        .isPresent();
  }

  /** Whether the file defines a function of one of these names, which may be the one called. */
  private static boolean named(Program program, String... names) {
    return program.scopes().stream().anyMatch(scope -> List.of(names).contains(scope.name()));
  }
}
