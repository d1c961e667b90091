package dev.kbx.check;

import dev.kbx.program.Access;
import dev.kbx.program.Call;
import dev.kbx.syntax.Node;
import java.util.Locale;
import java.util.Set;

/** Finds imports of the benchmark or of the task's own file. */
final class ReferenceImport implements Rule {
  private static final Set<String> IMPORTERS =
      Set.of("importlib.import_module", "builtins.__import__");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "reference-import",
        Severity.REJECT,
        "import of the benchmark or of a reference",
        "The task's file and the code that judges are not part of a candidate, and cannot be"
            + " found where it runs.",
        "remove the import and compute the result in this file",
        "from kernelbenchx.Activation.gelu import gelu\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    for (Access access : reachable.uses(ReferenceImport::ours)) {
      if (access.node().is("import_statement", "import_from_statement")) {
        report.found(access.place(), access.path() + " belongs to the benchmark");
      }
    }
    for (Call call : reachable.calls(IMPORTERS::contains)) {
      for (Node argument : call.arguments()) {
        for (Object name : context.program().constants(argument)) {
          if (ours(name.toString())) {
            report.found(call.place(), name + " belongs to the benchmark");
          }
        }
      }
    }
  }

  private static boolean ours(String module) {
    String name = module.toLowerCase(Locale.ROOT);
    String first = name.split("\\.", 2)[0];
    return first.equals("kbx")
        || first.equals("kernelbench")
        || first.equals("kernelbenchx")
        || name.startsWith("tasks.kernelbench")
        || name.startsWith("tasks.serving");
  }
}
