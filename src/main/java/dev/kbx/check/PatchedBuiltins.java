package dev.kbx.check;

import dev.kbx.program.Access;

/** A builtin is replaced for every module of the process. */
final class PatchedBuiltins implements Rule {
  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "patched-builtins",
        Severity.REJECT,
        "a replaced builtin",
        "Whatever else runs in the process would compare, convert and print as "
            + "the candidate likes.",
        "bind a name in your own file instead",
        "import builtins\n" + "\n" + "builtins.max = lambda *values: 0\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    for (Access access : context.reachable().changes(PatchedBuiltins::builtin)) {
      report.found(access.place(), "replaces " + access.path());
    }
  }

  private static boolean builtin(String path) {
    return (path.startsWith("builtins.") || path.startsWith("__builtins__."))
        && !ReachableCode.ofInstance(path);
  }
}
