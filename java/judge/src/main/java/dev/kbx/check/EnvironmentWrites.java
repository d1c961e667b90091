package dev.kbx.check;

import dev.kbx.program.Access;
import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.Set;

/** Finds environment variables that make other processes load code. */
final class EnvironmentWrites implements Rule {
  private static final Set<String> LOADED =
      Set.of(
          "LD_PRELOAD",
          "LD_AUDIT",
          "PYTHONPATH",
          "PYTHONSTARTUP",
          "PYTHONHOME",
          "PYTHONINSPECT",
          "PYTHONBREAKPOINT",
          "BASH_ENV",
          "GCONV_PATH",
          "CUDA_INJECTION64_PATH");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "environment-writes",
        Severity.REJECT,
        "environment variables that load code",
        "LD_PRELOAD, PYTHONPATH and similar variables make every process started later load"
            + " the candidate's code.",
        "leave these variables alone; settings of Triton and PyTorch are fine",
        "import os\n" + "\n" + "os.environ['LD_PRELOAD'] = '/tmp/x.so'\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    Program program = context.program();
    for (Access access : reachable.changes(path -> path.startsWith("os.environ"))) {
      Node key = access.node().child("subscript");
      if (key != null && named(program, key)) {
        report.found(
            access.place(), "sets " + program.text(key) + " for every process started later");
      }
    }
    for (Call call :
        reachable.calls(path -> ReachableCode.below(path, "os.environ", "os.putenv"))) {
      boolean keyword = call.keywords().keySet().stream().anyMatch(LOADED::contains);
      boolean writes = call.targets().stream().anyMatch(EnvironmentWrites::writes);
      if (writes
          && (keyword || call.argument(0, "key").filter(k -> named(program, k)).isPresent())) {
        report.found(call.place(), "sets variables for every process started later");
      }
    }
  }

  private static boolean writes(String path) {
    return Set.of(
            "os.putenv", "os.environ.update", "os.environ.setdefault", "os.environ.__setitem__")
        .contains(path);
  }

  private static boolean named(Program program, Node key) {
    return program.constants(key).stream().anyMatch(LOADED::contains);
  }
}
