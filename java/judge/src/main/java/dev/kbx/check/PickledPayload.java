package dev.kbx.check;

import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import dev.kbx.syntax.Node;
import java.util.Set;

/** Finds objects that run code in the process that unpickles them. */
final class PickledPayload implements Rule {
  private static final Set<String> METHODS = Set.of("__reduce__", "__reduce_ex__");

  /** Functions and modules that unpickling an honest object does not call. */
  private static final String[] ACTIONS = {
    "os",
    "posix",
    "subprocess",
    "shutil",
    "socket",
    "sys",
    "runpy",
    "importlib",
    "ctypes",
    "builtins.exec",
    "builtins.eval",
    "builtins.compile",
    "builtins.__import__",
    "builtins.open",
    "builtins.setattr"
  };

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "pickled-payload",
        Severity.REJECT,
        "a pickle payload",
        "__reduce__ names a function that runs in the process that unpickles the object. kbx"
            + " never unpickles what a candidate returns.",
        "return tensors and plain values",
        "import os\n"
            + "\n"
            + "\n"
            + "class Payload:\n"
            + "    def __reduce__(self):\n"
            + "        return os.system, ('true',)\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    for (Scope scope : program.scopes()) {
      if (!METHODS.contains(scope.name())) continue;
      for (Node node : scope.node().all()) {
        if (node.is("return_statement") && acts(program, node)) {
          report.found(
              program.place(node),
              scope.name() + " runs code in the process that unpickles the object");
        }
      }
    }
  }

  private static boolean acts(Program program, Node statement) {
    Node made = statement.children().getLast();
    Node called =
        made.is("tuple", "expression_list")
            ? made.children().stream().filter(n -> !n.is("(")).findFirst().orElse(made)
            : made;
    return program.paths(called).stream().anyMatch(path -> ReachableCode.below(path, ACTIONS));
  }
}
