package dev.kbx.check;

import dev.kbx.program.Call;
import java.util.Set;

/** Finds work in a background thread. */
final class BackgroundWork implements Rule {
  private static final Set<String> THREADS =
      Set.of(
          "threading.Thread",
          "threading.Timer",
          "_thread.start_new_thread",
          "concurrent.futures.ThreadPoolExecutor",
          "concurrent.futures.thread.ThreadPoolExecutor",
          "multiprocessing.pool.ThreadPool",
          "multiprocessing.dummy.Pool",
          "asyncio.to_thread");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "background-work",
        Severity.REJECT,
        "work in a background thread",
        "A thread goes on working after the entry has returned, so a clock around the entry"
            + " does not see its work.",
        "do all work in the entry, on the current stream",
        """
        import threading


        def kernel_function(x):
            threading.Thread(target=print, args=(x,)).start()
        """);
  }

  @Override
  public void check(RuleContext context, Report report) {
    for (Call call : context.reachable().calls(THREADS::contains)) {
      report.found(call.place(), "starts a thread");
    }
  }
}
