package dev.kbx.check;

import dev.kbx.program.Call;
import java.util.Set;

/** Finds streams other than the current one. */
final class SideStream implements Rule {
  private static final Set<String> STREAMS =
      Set.of(
          "torch.cuda.Stream",
          "torch.cuda.ExternalStream",
          "torch.cuda.set_stream",
          "torch.Stream");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "side-stream",
        Severity.NOTE,
        "a separate stream",
        "kbx times work on other streams together with that on the current one: it can"
            + " neither start before nor end after it.",
        "use the current stream unless two kernels really run side by side",
        """
        import torch

        aside = torch.cuda.Stream()
        """);
  }

  @Override
  public void check(RuleContext context, Report report) {
    for (Call call : context.reachable().calls(STREAMS::contains)) {
      report.found(call.place(), "works on a separate stream");
    }
  }
}
