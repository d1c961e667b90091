package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.Node;
import java.util.Set;

/** Finds custom tensor classes and dispatch modes. */
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
        "a custom tensor class or mode",
        "Such a tensor can compute when its values are read, after the clock has stopped. A"
            + " mode intercepts every call of PyTorch and can change it.",
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
              scope.name() + " is not a plain tensor: it can compute when its values are read");
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
