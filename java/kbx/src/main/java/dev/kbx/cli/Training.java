package dev.kbx.cli;

import dev.kbx.app.WorkerSource;
import dev.kbx.worker.ScratchFolder;
import java.util.List;

/**
 * Runs, in one JVM, commands that together load most of what others do: the launcher records them
 * for the cache of starts (JEP 514). None needs Python.
 */
final class Training {
  private static final List<String> ANALYSES =
      List.of("summary", "deviance", "efficiency", "errors", "methods", "quality");

  private Training() {}

  /** Ends the JVM with the {@link ExitCode} of the first command that fails. */
  public static void main(String[] args) {
    String sources = args[0];
    String out = args[1];
    run("eval", sources, "--stages", "static", "--seed", "start", "--out", out, "--json");
    for (String analysis : ANALYSES) run("analyze", analysis, "--out", out);
    run("analyze", "passk", out);
    ScratchFolder.delete();
    System.exit(ExitCode.OK);
  }

  private static void run(String... command) {
    int exit = Main.run(WorkerSource.NEW, command);
    if (exit != ExitCode.OK) System.exit(exit);
  }
}
