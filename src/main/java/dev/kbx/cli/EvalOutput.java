package dev.kbx.cli;

import dev.kbx.analysis.AskedTasks;
import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.report.RunVerdicts;
import dev.kbx.report.Table;
import dev.kbx.report.TrajectoriesText;
import dev.kbx.verdict.RunInfo;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

/**
 * Output of {@code kbx eval} and {@code kbx run} on stdout: a table and the report's path, or one
 * JSON document.
 */
final class EvalOutput {
  private final PrintStream out;
  private final boolean json;

  EvalOutput(PrintStream out, boolean json) {
    this.out = out;
    this.json = json;
  }

  /** Prints a run of given sources. */
  void print(
      RunInfo run, RunVerdicts verdicts, AskedTasks asked, List<String> problems, Path folder) {
    if (json) {
      verdicts.print(out, run, problems);
      return;
    }
    table(run, verdicts, asked, folder);
    report(folder);
  }

  /** Prints a run of methods, with the rates and costs of each. */
  void printMethods(
      RunInfo run,
      RunVerdicts verdicts,
      AskedTasks asked,
      Path folder,
      List<TrajectoryRow> trajectories) {
    if (json) {
      verdicts.print(out, run, List.of(), TrajectoryRates.of(trajectories));
      return;
    }
    table(run, verdicts, asked, folder);
    out.println();
    new TrajectoriesText(Terminal.columns()).lines(trajectories).forEach(out::println);
    report(folder);
  }

  private void table(RunInfo run, RunVerdicts verdicts, AskedTasks asked, Path folder) {
    TerminalStream.style(
        out,
        new Table(Terminal.columns(), Terminal.colours())
            .render(run, verdicts, asked, path(folder).toString()));
  }

  private void report(Path folder) {
    out.println("report: " + path(folder));
  }

  private static Path path(Path folder) {
    return folder.resolve("report.html");
  }
}
