package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.Set;

/** Finds writes to file descriptors that the program did not open. */
final class DescriptorWrites implements Rule {
  private static final Set<String> WRITES =
      Set.of("os.write", "os.writev", "os.pwrite", "os.pwritev", "os.sendfile", "os.fdopen");

  private static final Set<String> MOVES = Set.of("os.dup2", "os.closerange", "os.pidfd_open");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "descriptor-writes",
        Severity.REJECT,
        "writes to a file descriptor it did not open",
        "Open descriptors above 2 belong to the process that runs the kernel. Writing to"
            + " them is an attempt to forge a result.",
        "print diagnostics to stdout or stderr, and return results from the entry",
        "import os\n" + "\n" + "for fd in range(3, 64):\n" + "    os.write(fd, b'correct')\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    for (Call call : reachable.calls(WRITES::contains)) {
      boolean own = call.argument(0, "fd").filter(fd -> own(context.program(), fd)).isPresent();
      if (!own) report.found(call.place(), "writes to a descriptor that it did not open");
    }
    for (Call call : reachable.calls(MOVES::contains)) {
      report.found(call.place(), "changes descriptors that it did not open");
    }
    for (Call call : reachable.calls(path -> path.equals("socket.socket"))) {
      if (call.keyword("fileno").isPresent()) {
        report.found(call.place(), "takes over a socket that it did not open");
      }
    }
    for (Call call : reachable.calls(path -> path.equals("socket.fromfd"))) {
      report.found(call.place(), "takes over a socket that it did not open");
    }
  }

  /** Standard output and error, or a descriptor from a call of this program. */
  private static boolean own(Program program, Node fd) {
    Set<Object> known = program.constants(fd);
    Set<String> paths = program.paths(fd);
    if (!known.isEmpty()) return known.stream().allMatch(n -> n.equals(1L) || n.equals(2L));
    return !paths.isEmpty()
        && paths.stream().allMatch(p -> p.contains("()") && !p.startsWith("builtins.range()"));
  }
}
