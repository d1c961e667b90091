package dev.kbx.check;

import dev.kbx.program.Call;
import java.util.Set;

/** Finds deliberate waiting. */
final class Sleeping implements Rule {
  private static final Set<String> WAITS =
      Set.of("time.sleep", "torch.cuda._sleep", "asyncio.sleep", "threading.Event().wait");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "sleeping",
        Severity.REJECT,
        "deliberate waiting",
        "Sleeping in the first calls distorts the warm-up, and a thread that sleeps can work"
            + " later, when no clock runs.",
        "remove the wait; a kernel has nothing to wait for",
        """
        import time


        def kernel_function(x):
            time.sleep(0.1)
        """);
  }

  @Override
  public void check(RuleContext context, Report report) {
    for (Call call : context.reachable().calls(WAITS::contains)) {
      report.found(call.place(), "waits deliberately");
    }
  }
}
