package dev.kbx.check;

import dev.kbx.program.Access;
import dev.kbx.program.Call;
import java.util.Set;

/** Finds access to the judging code: stack frames, the garbage collector, tracing, kbx itself. */
final class HarnessInspection implements Rule {
  private static final Set<String> CALLS =
      Set.of(
          "sys._getframe",
          "sys._current_frames",
          "sys._getframemodulename",
          "sys.settrace",
          "sys.setprofile",
          "threading.settrace",
          "threading.setprofile",
          "threading.settrace_all_threads",
          "threading.setprofile_all_threads",
          "inspect.stack",
          "inspect.currentframe",
          "inspect.getouterframes",
          "inspect.getinnerframes",
          "inspect.trace",
          "gc.get_objects",
          "gc.get_referrers",
          "gc.get_referents",
          "sys.modules.values",
          "sys.modules.items");

  private static final Set<String> FRAME_ATTRIBUTES =
      Set.of("f_back", "f_locals", "f_globals", "f_builtins", "tb_frame");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "harness-inspection",
        Severity.REJECT,
        "inspection of the harness",
        "Stack frames of callers, the garbage collector's objects and trace functions give"
            + " access to the code that compares and times. A kernel does not need them.",
        "compute from the arguments alone",
        "import gc\n" + "\n" + "found = [o for o in gc.get_objects() if hasattr(o, 'expected')]\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    for (Call call : reachable.calls(HarnessInspection::inspects)) {
      call.target(HarnessInspection::inspects)
          .ifPresent(path ->
              report.found(call.place(), path + " inspects the code that called the kernel"));
    }
    for (Access access : reachable.uses(HarnessInspection::harness)) {
      report.found(access.place(), access.path() + " belongs to the process that runs the kernel");
    }
  }

  private static boolean inspects(String path) {
    return CALLS.contains(path) || ReachableCode.below(path, "sys.monitoring");
  }

  private static boolean harness(String path) {
    return ReachableCode.below(path, "__main__", "kbx")
        || (FRAME_ATTRIBUTES.contains(path.substring(path.lastIndexOf('.') + 1))
            && path.indexOf('.') > 0);
  }
}
