package dev.kbx.check;

import dev.kbx.program.Access;
import java.util.Set;

/** Finds code that asks whether a profiler runs, or for the command line. */
final class PhaseDetection implements Rule {
  private static final Set<String> CIRCUMSTANCES =
      Set.of(
          "sys.argv",
          "sys.orig_argv",
          "torch.autograd._profiler_enabled",
          "torch.autograd.profiler._is_profiler_enabled",
          "torch._C._autograd._profiler_enabled",
          "torch._C._autograd._profiler_type",
          "torch._C._len_torch_dispatch_stack",
          "torch._C._len_torch_function_stack",
          "torch._C._get_dispatch_mode",
          "torch.overrides._get_current_function_mode_stack",
          "torch.utils._python_dispatch._get_current_dispatch_mode",
          "torch.utils._python_dispatch._get_current_dispatch_mode_stack");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "phase-detection",
        Severity.REJECT,
        "detection of profilers or command line",
        "Asking for a profiler or for the command line serves only to behave differently"
            + " while being timed.",
        "do the same work in every call",
        """
        import sys

        benchmarking = "--bench" in sys.argv
        """);
  }

  @Override
  public void check(RuleContext context, Report report) {
    for (Access access : context.reachable().uses(CIRCUMSTANCES::contains)) {
      report.found(access.place(), "asks for " + access.path());
    }
  }
}
