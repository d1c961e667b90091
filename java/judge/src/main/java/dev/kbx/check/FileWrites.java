package dev.kbx.check;

import dev.kbx.program.Call;
import java.util.Set;

/** Finds files that are written or removed. */
final class FileWrites implements Rule {
  private static final Set<String> REMOVALS =
      Set.of(
          "os.remove",
          "os.unlink",
          "os.rename",
          "os.replace",
          "os.truncate",
          "os.chmod",
          "os.symlink",
          "os.link",
          "shutil.rmtree",
          "shutil.copy",
          "shutil.copyfile",
          "shutil.copytree",
          "shutil.move",
          "torch.save",
          "numpy.save",
          "numpy.savez");

  private static final Set<String> METHODS =
      Set.of("write_text", "write_bytes", "unlink", "symlink_to", "chmod", "rename", "touch");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "file-writes",
        Severity.FLAG,
        "writes to files",
        "A kernel has nothing to store. Writing to caches, libraries or sources can change"
            + " what other programs load. Files do not outlive the candidate's process.",
        "keep state in memory",
        "open('results.json', 'w').write('{\"status\": \"correct\"}')\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    ReachableCode reachable = context.reachable();
    for (Call call :
        reachable.calls(path -> path.equals("builtins.open") || path.equals("io.open"))) {
      boolean writes =
          call.argument(1, "mode").stream()
              .flatMap(mode -> context.program().constants(mode).stream())
              .anyMatch(mode -> mode.toString().matches(".*[wax+].*"));
      if (writes) report.found(call.place(), "opens a file to write");
    }
    for (Call call : reachable.calls(FileWrites::changes)) {
      report.found(call.place(), "writes, moves or removes files");
    }
  }

  private static boolean changes(String path) {
    return REMOVALS.contains(path)
        || (path.startsWith("pathlib.Path(")
            && METHODS.contains(path.substring(path.lastIndexOf('.') + 1)));
  }
}
