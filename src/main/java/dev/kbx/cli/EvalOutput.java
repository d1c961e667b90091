package dev.kbx.cli;

import dev.kbx.analysis.AskedTasks;
import dev.kbx.report.RunVerdicts;
import dev.kbx.report.Table;
import dev.kbx.verdict.RunInfo;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

/** Output of {@code kbx eval} on stdout: a table and the report's path, or one JSON document. */
final class EvalOutput {
  private final PrintStream out;
  private final boolean json;

  EvalOutput(PrintStream out, boolean json) {
    this.out = out;
    this.json = json;
  }

  /**
   * Prints a run.
   *
   * @param more lines of the table, above the path of the report
   */
  void print(
      RunInfo run,
      RunVerdicts verdicts,
      AskedTasks asked,
      List<String> problems,
      Path folder,
      List<String> more) {
    if (json) {
      verdicts.print(out, run, problems);
      return;
    }
    Path report = folder.resolve("report.html");
    out.print(
        new Table(Terminal.columns(), Terminal.colours())
            .render(run, verdicts, asked, report.toString()));
    more.forEach(out::println);
    out.println("report: " + report);
  }
}
