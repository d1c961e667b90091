package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.Node;
import java.util.Set;

/** Tensors or modes whose operations are the candidate's. */
final class LazyTensor implements Rule {
  private static final Set<String> BASES =
      Set.of(
          "torch.Tensor",
          "torch._C.TensorBase",
          "torch._tensor.Tensor",
          "torch.overrides.TorchFunctionMode",
          "torch.overrides.BaseTorchFunctionMode",
          "torch.utils._python_dispatch.TorchDispatchMode");

  private static final Set<String> MAKERS = Set.of("_make_subclass", "_make_wrapper_subclass");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "lazy-tensor",
        Severity.REJECT,
        "a tensor class or mode of its own",
        "Such a tensor may compute when somebody looks at it, which is after the clock has stopped."
            + " A mode sees, and changes, every call of PyTorch.",
        "return a plain torch.Tensor that the kernel has written",
        """
        import torch


        class Lazy(torch.Tensor):
            pass
        """);
  }

  @Override
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    for (Scope scope : program.scopes()) {
      Node bases = scope.node().child("superclasses");
      if (scope.kind() != Scope.Kind.CLASS || bases == null) continue;
      for (Node base : bases.children()) {
        if (program.paths(base).stream().anyMatch(BASES::contains)) {
          report.found(
              program.place(base),
              scope.name() + " is no plain tensor: it can compute when somebody looks at it");
        }
      }
    }
    for (Call call : context.reachable().calls(LazyTensor::makes)) {
      report.found(call.place(), "makes a tensor of another class");
    }
  }

  private static boolean makes(String path) {
    return MAKERS.contains(path.substring(path.lastIndexOf('.') + 1));
  }
}
