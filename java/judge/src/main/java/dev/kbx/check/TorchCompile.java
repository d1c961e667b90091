package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Scope;
import java.util.List;
import java.util.Set;

/** Finds functions that PyTorch compiles in place of a kernel. */
final class TorchCompile implements Rule {
  private static final String[] COMPILERS = {
    "torch.compile",
    "torch.compile()",
    "torch._dynamo.optimize",
    "torch._dynamo.optimize()",
    "torch.jit.script",
    "torch.jit.trace",
    "torch.fx.symbolic_trace",
    "torch._inductor.compile",
    "torch._inductor.aot_compile",
    "torch.export.export"
  };

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "torch-compile",
        Severity.REJECT,
        "PyTorch's compiler in place of a kernel",
        "torch.compile or TorchScript generates the kernels from PyTorch operations; the"
            + " task asks for kernels that are written in this file.",
        "write the @triton.jit kernel yourself and launch it",
        "import torch\n\n\n@torch.compile\ndef kernel_function(input):\n"
            + "    return torch.nn.functional.gelu(input)\n");
  }

  @Override
  public boolean policy() {
    return true;
  }

  @Override
  public void check(RuleContext context, Report report) {
    if (context.task().isEmpty()) return;
    for (EntryAnalysis entry : context.entry().stream().toList()) {
      Set<Scope> possible = entry.possible();
      for (Call call : context.program().calls()) {
        if (possible.contains(call.scope()) && compiled(call)) {
          report.found(call.place(), "calls a function that PyTorch compiled");
        }
        if (!call.of(COMPILERS) || context.program().inside(call.node(), EntryAnalysis.CONDITIONS))
          continue;
        if (applied(context, call, possible)) {
          report.found(call.place(), "the entry runs a function that PyTorch compiled");
        }
      }
    }
  }

  /** Whether a call can only run compiled code. */
  private static boolean compiled(Call call) {
    if (call.targets().size() != 1) return false;
    String path = call.targets().iterator().next();
    return List.of("torch.jit.trace()", "torch.jit.script()", "torch.fx.symbolic_trace()")
        .contains(path);
  }

  /** Whether the entry may run the compiled function or the compiler. */
  private static boolean applied(RuleContext context, Call call, Set<Scope> possible) {
    if (possible.contains(call.scope())) return true;
    if (call.arguments().isEmpty()) return false;
    var first = call.arguments().getFirst();
    for (Scope scope : possible) {
      boolean same =
          scope.node().equals(first) || context.program().paths(first).contains(scope.path());
      if (same) return true;
    }
    return false;
  }
}
