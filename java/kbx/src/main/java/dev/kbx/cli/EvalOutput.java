package dev.kbx.cli;

import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.app.RunResults;
import dev.kbx.document.Document;
import dev.kbx.document.Section;
import dev.kbx.document.TerminalRenderer;
import dev.kbx.report.Table;
import dev.kbx.section.TrajectoriesSection;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;

/**
 * Output of {@code kbx eval} and {@code kbx run} on stdout: a table and the report's path, or one
 * JSON document.
 */
final class EvalOutput {
  /** Trajectories of several rounds that are listed; the report has more. */
  private static final int MOST_TRAJECTORIES = 12;

  private final PrintStream out;
  private final boolean json;

  EvalOutput(PrintStream out, boolean json) {
    this.out = out;
    this.json = json;
  }

  /** Prints a run of given sources. */
  void print(RunResults results, List<String> problems, Path folder) {
    if (json) {
      results.verdicts().print(out, results.run(), problems);
      return;
    }
    table(results, folder);
    report(folder);
  }

  /** Prints a run of methods, with the rates and costs of each. */
  void printMethods(RunResults results, Path folder, List<TrajectoryRow> trajectories) {
    if (json) {
      results.verdicts().print(out, results.run(), List.of(), TrajectoryRates.of(trajectories));
      return;
    }
    table(results, folder);
    out.println();
    out.print(trajectories(trajectories));
    report(folder);
  }

  /** How trajectories went, then rates and costs of each method. */
  static String trajectories(List<TrajectoryRow> rows) {
    Section rates = TrajectoriesSection.rates(rows);
    Section rounds = TrajectoriesSection.rounds(rows, MOST_TRAJECTORIES);
    return new TerminalRenderer(Terminal.columns())
        .render(new Document("", rounds == null ? List.of(rates) : List.of(rounds, rates)));
  }

  private void table(RunResults results, Path folder) {
    TerminalStream.style(
        out,
        new Table(Terminal.columns(), Terminal.colours())
            .render(results.run(), results.verdicts(), results.asked(), path(folder).toString()));
  }

  private void report(Path folder) {
    out.println("report: " + path(folder));
  }

  private static Path path(Path folder) {
    return folder.resolve("report.html");
  }
}
