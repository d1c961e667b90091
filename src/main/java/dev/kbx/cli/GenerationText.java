package dev.kbx.cli;

import dev.kbx.generate.Spending;
import dev.kbx.report.Grid;
import dev.kbx.report.Text;
import java.util.ArrayList;
import java.util.List;

/** What came of methods, as a table. */
final class GenerationText {
  private GenerationText() {}

  static List<String> lines(List<GenerationSummary.Row> summary) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "method",
            "model",
            "tries",
            "code",
            "correct*",
            "final",
            "calls",
            "tokens",
            "USD",
            "judging"));
    for (GenerationSummary.Row row : summary) rows.add(cells(row));
    List<String> lines = new ArrayList<>(new Grid("llrrrrrrrr", rows).lines(Terminal.columns()));
    lines.add(
        "* on development inputs, of the answers judged there; final: on inputs no method saw");
    return lines;
  }

  private static String calls(Spending spent) {
    StringBuilder text = new StringBuilder().append(spent.calls());
    if (spent.lost() > 0) text.append(", ").append(spent.lost()).append(" lost");
    if (spent.reported() > 0) text.append(", ").append(spent.reported()).append(" reported");
    return text.toString();
  }

  private static List<String> cells(GenerationSummary.Row row) {
    Spending spent = row.spent();
    GenerationSummary.Counts counts = row.counts();
    return List.of(
        Text.clean(row.method()),
        Text.clean(row.model()),
        String.valueOf(counts.trajectories()),
        String.valueOf(counts.withCode()),
        counts.judged() == 0 ? "" : counts.correct() + " of " + counts.judged(),
        row.heldOut() == null ? "" : row.heldOut() + " of " + counts.trajectories(),
        calls(spent),
        "%,d".formatted(spent.tokens()),
        spent.usd() == 0 ? "" : (spent.unpriced() > 0 ? "≥ " : "") + "%.2f".formatted(spent.usd()),
        spent.deviceSeconds() == 0 ? "" : "%.0f s".formatted(spent.deviceSeconds()));
  }
}
