package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Scope;
import java.util.Set;

/** Finds PyTorch operations that may compute the result in some calls. */
final class LibraryFallback implements Rule {
  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "library-fallback",
        Severity.NOTE,
        "PyTorch computes in some cases",
        "Falling back to PyTorch on other devices is common. Where the branch is taken, kbx"
            + " judges PyTorch's result and says in the verdict who computed it.",
        "let the kernel handle every case that the task names",
        "import torch\n\n\ndef kernel_function(input):\n    if input.is_cuda:\n"
            + "        return launch(input)\n    return torch.softmax(input, -1)\n");
  }

  @Override
  public boolean policy() {
    return true;
  }

  @Override
  public void check(RuleContext context, Report report) {
    for (EntryAnalysis entry : context.entry().stream().toList()) {
      Set<Scope> possible = entry.possible();
      for (Call call : context.program().calls()) {
        if (!possible.contains(call.scope()) || context.inKernel(call.scope())) continue;
        if (!call.node().is("call") || entry.sure(call.node())) continue;
        call.targets().stream()
            .flatMap(path -> TorchOperation.of(path).stream())
            .filter(TorchOperation::whole)
            .findFirst()
            .ifPresent(operation ->
                report.found(call.place(), operation.shown() + " may compute the result here"));
      }
    }
  }
}
