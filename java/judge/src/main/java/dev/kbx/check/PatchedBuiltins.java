package dev.kbx.check;

import dev.kbx.program.Access;

/** Finds builtins that are replaced for the whole process. */
final class PatchedBuiltins implements Rule {
  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "patched-builtins",
        Severity.REJECT,
        "a replaced builtin",
        "Code elsewhere in the process that calls the builtin would run the candidate's"
            + " function.",
        "define a name in your own file instead",
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
