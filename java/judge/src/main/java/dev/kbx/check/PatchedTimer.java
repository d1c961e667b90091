package dev.kbx.check;

import dev.kbx.program.Access;

/** Finds replaced clocks, events and synchronization functions. */
final class PatchedTimer implements Rule {
  private static final String[] TIMERS = {
    "torch.cuda.Event", "torch.cuda.ExternalStream", "torch.cuda.Stream",
        "torch.cuda.current_stream",
    "torch.cuda.default_stream", "torch.cuda.streams", "torch.cuda.synchronize", "torch.Event",
    "torch.Stream", "torch.utils.benchmark", "torch.profiler", "torch.autograd.profiler",
    "triton.testing", "time", "timeit"
  };

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "patched-timer",
        Severity.REJECT,
        "a replaced timer",
        "A candidate that replaces the timer reports any time it likes. kbx measures from"
            + " another process, so the patch has no effect on the verdict.",
        "leave timers, events and synchronization alone",
        "import torch\n" + "\n" + "torch.cuda.Event = None\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    for (Access access : context.reachable().changes(PatchedTimer::timer)) {
      report.found(access.place(), "replaces " + access.path());
    }
  }

  static boolean timer(String path) {
    return ReachableCode.below(path, TIMERS) && !ReachableCode.ofInstance(path);
  }
}
