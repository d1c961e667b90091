package dev.kbx.check;

import dev.kbx.program.Access;
import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds processes that are started, ended or signalled, and exit hooks. */
final class ProcessControl implements Rule {
  private static final Set<String> CALLS =
      Set.of(
          "os._exit",
          "os.abort",
          "os.fork",
          "os.forkpty",
          "os.kill",
          "os.killpg",
          "os.popen",
          "os.posix_spawn",
          "os.posix_spawnp",
          "os.setsid",
          "os.startfile",
          "os.system",
          "os.tgkill",
          "pty.fork",
          "pty.spawn",
          "signal.alarm",
          "signal.pthread_kill",
          "signal.pthread_sigmask",
          "signal.raise_signal",
          "signal.set_wakeup_fd",
          "signal.setitimer",
          "signal.signal",
          "atexit.register",
          "faulthandler.register",
          "multiprocessing.Process",
          "multiprocessing.get_context",
          "torch.multiprocessing.get_context",
          "multiprocessing.Pool",
          "multiprocessing.Manager",
          "torch.multiprocessing.spawn",
          "torch.multiprocessing.Process",
          "torch.multiprocessing.Pool",
          "concurrent.futures.ProcessPoolExecutor",
          "asyncio.create_subprocess_exec",
          "asyncio.create_subprocess_shell");

  private static final Set<String> QUESTIONS =
      Set.of("nvidia-smi", "nvcc", "ptxas", "uname", "lscpu", "hostname", "which");

  private static final Set<String> HOOKS =
      Set.of("sys.excepthook", "sys.unraisablehook", "sys.exitfunc", "threading.excepthook");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "process-control",
        Severity.REJECT,
        "control of processes",
        "Child processes, signals and early exits can outlive the measurement, disturb other"
            + " candidates or end before the comparison.",
        "return the result and leave the process alone; run benchmarks under if __name__ =="
            + " \"__main__\"",
        "import os\n" + "\n" + "\n" + "def kernel_function(x):\n" + "    os._exit(0)\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    for (Call call : reachable.calls(ProcessControl::controls)) {
      if (asks(context.program(), call)) continue;
      call.target(ProcessControl::controls)
          .ifPresent(path -> report.found(call.place(), path + " controls processes"));
    }
    for (Access access : reachable.changes(HOOKS::contains)) {
      report.found(access.place(), "replaces " + access.path());
    }
  }

  /** Whether a call runs a program that only describes the machine. */
  private static boolean asks(Program program, Call call) {
    Optional<Node> command = call.argument(0, "args");
    if (command.isEmpty()) return false;
    Set<Object> known = program.constants(command.get());
    return !known.isEmpty()
        && known.stream()
            .map(
                each -> each instanceof List<?> words && !words.isEmpty() ? words.getFirst() : each)
            .map(each -> String.valueOf(each).replaceFirst("^([\\w-]+)( [^;|&$`<>\\n]*)?$", "$1"))
            .allMatch(QUESTIONS::contains);
  }

  private static boolean controls(String path) {
    return CALLS.contains(path)
        || path.startsWith("os.exec")
        || path.startsWith("os.spawn")
        || (path.startsWith("subprocess.") && !ReachableCode.ofInstance(path));
  }
}
