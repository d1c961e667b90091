package dev.kbx.check;

import dev.kbx.program.Access;
import dev.kbx.syntax.Node;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Finds changes to what later imports load. */
final class ImportHooks implements Rule {
  private static final String[] FINDERS = {
    "sys.meta_path", "sys.path_hooks", "sys.path_importer_cache", "builtins.__import__"
  };

  /** Modules that other code imports, beside those of {@link PatchedLibrary}. */
  private static final Set<String> MODULES =
      Set.of(
          "builtins",
          "gc",
          "importlib",
          "os",
          "socket",
          "sys",
          "threading",
          "time",
          "torch.testing",
          "triton.testing");

  /** A module whose name is not a constant. */
  private static final String UNNAMED = "sys.modules[]";

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "import-hooks",
        Severity.REJECT,
        "an import hook",
        "Finders, path hooks and replaced entries of sys.modules decide what the rest of the"
            + " process imports.",
        "import modules as they are; guard optional imports with try and except",
        "import sys\n" + "\n" + "sys.meta_path.insert(0, object())\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    for (Access access : reachable.uses(path -> ReachableCode.below(path, FINDERS))) {
      boolean called = !access.path().startsWith("builtins.");
      if (called || access.kind() != Access.Kind.READ) {
        report.found(access.place(), "changes what later imports load");
      }
    }
    Set<Node> named = new HashSet<>();
    for (Access access : reachable.changes(path -> !path.equals(UNNAMED))) named.add(access.node());
    for (Access access : reachable.changes(ImportHooks::impostor)) {
      if (access.path().equals(UNNAMED) && named.contains(access.node())) continue;
      report.found(access.place(), "replaces the module " + access.path());
    }
  }

  /** A module that others import; a stub for an optional library is harmless. */
  private static boolean impostor(String path) {
    return path.equals(UNNAMED)
        || MODULES.contains(path)
        || List.of(PatchedLibrary.LIBRARIES).contains(path);
  }
}
