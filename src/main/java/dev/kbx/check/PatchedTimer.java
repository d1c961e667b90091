package dev.kbx.check;

import dev.kbx.program.Access;

/** A clock, an event or a wait for the device is replaced. */
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
        "Whoever changes the clock chooses its own time. kbx times from "
            + "another process, so this can only be an attempt.",
        "leave timers, events and synchronisation alone: kbx does not use "
            + "those of your process",
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
