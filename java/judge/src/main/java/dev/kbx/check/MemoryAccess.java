package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.Set;

/** Finds paths below /proc, /sys, /dev and /etc that a program opens. */
final class MemoryAccess implements Rule {
  private static final String[] SYSTEM = {"/proc/", "/sys/", "/dev/", "/etc/"};

  private static final Set<String> OPENERS =
      Set.of(
          "builtins.open",
          "io.open",
          "os.open",
          "os.listdir",
          "os.scandir",
          "os.readlink",
          "pathlib.Path",
          "glob.glob");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "memory-access",
        Severity.REJECT,
        "access to /proc, /sys or /dev",
        "Files under /proc, /sys and /dev expose the memory, descriptors and environment of"
            + " processes. A kernel does not need them.",
        "compute from the arguments alone",
        "environment = open('/proc/1/environ', 'rb').read()\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    Program program = context.program();
    for (Node node : program.module().node().all()) {
      if (!node.is("string") || !system(content(program.text(node)))) continue;
      if (used(program, node) && reachable.runs(node)) {
        report.found(program.place(node), content(program.text(node)) + " belongs to the system");
      }
    }
    for (Call call : reachable.calls(OPENERS::contains)) {
      boolean folded =
          call.argument(0, "file").filter(path -> !path.is("string")).stream()
              .flatMap(path -> program.constants(path).stream())
              .anyMatch(path -> system(path.toString()));
      if (folded) report.found(call.place(), "opens a path that belongs to the system");
    }
  }

  private static String content(String literal) {
    return literal
        .replaceFirst("^[A-Za-z]*(\"\"\"|'''|\"|')", "")
        .replaceFirst("(\"\"\"|'''|\"|')$", "");
  }

  private static boolean system(String text) {
    if (text.equals("/proc")) return true;
    if (text.startsWith("/dev/shm/") && !text.contains("..")) return false;
    if (text.equals("/dev/null")) return false;
    for (String root : SYSTEM) if (text.startsWith(root)) return true;
    return false;
  }

  /** Whether a string is used, unlike a docstring. */
  private static boolean used(Program program, Node node) {
    return program.parent(node).filter(parent -> !parent.is("expression_statement")).isPresent();
  }
}
