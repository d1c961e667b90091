package dev.kbx.check;

import dev.kbx.program.Program;
import dev.kbx.syntax.Node;

/** The kernel's view of processes and devices is opened: /proc, /sys, /dev. */
final class MemoryAccess implements Rule {
  private static final String[] SYSTEM = {"/proc", "/sys/", "/dev/", "/etc/"};

  @Override
  public About about() {
    return new About(
        "memory-access",
        Severity.REJECT,
        "access to /proc",
        "Memory, descriptors and environments of processes are files under "
            + "/proc. A kernel has no use for them.",
        "compute from the arguments alone",
        "environment = open('/proc/1/environ', 'rb').read()\n");
  }

  @Override
  public void check(Subject subject, Report report) {
    Judged judged = new Judged(subject);
    Program program = subject.program();
    for (Node node : program.module().node().all()) {
      if (!node.is("string") || !system(program.text(node)) || !used(program, node)) continue;
      if (judged.runs(node)) report.found(program.place(node), "reaches into the running system");
    }
  }

  private static boolean system(String literal) {
    String text = literal.replaceFirst("^[A-Za-z]*(\"\"\"|'''|\"|')", "");
    for (String root : SYSTEM) if (text.startsWith(root)) return !text.startsWith("/dev/null");
    return false;
  }

  /** Not a docstring or a comment of its own. */
  private static boolean used(Program program, Node node) {
    return program.parent(node).filter(parent -> !parent.is("expression_statement")).isPresent();
  }
}
