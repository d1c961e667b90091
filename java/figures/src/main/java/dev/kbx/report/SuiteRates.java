package dev.kbx.report;

import dev.kbx.analysis.SetSpeedup;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Counted;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rates of one method and model as markup: tiles, statuses, categories. */
record SuiteRates(Tally tally, List<VerdictRow> rows, RunInfo run) {
  void tiles(Writer writer) throws IOException {
    Tally.Passes all = tally.candidates("all", rows);
    Tally.Passes tasks = tally.tasks("tasks", rows);
    tile(writer, "Called", tasks.call(), all.call());
    tile(
        writer,
        tally.general() ? "Correct, published grade" : "Correct",
        tasks.correct(),
        all.correct());
    if (tally.general()) tile(writer, "Correct, general grade", tasks.general(), all.general());
    tile(writer, "Timed", tasks.perf(), all.perf());
    SetSpeedup speedup = SetSpeedup.of(tally.counted(rows));
    if (speedup != null) speedupTile(writer, speedup, run.baseline());
    if (all.notJudged() > 0) {
      writer.write("<div class=\"tile\"><h2>Not judged</h2><p class=\"figure\">");
      writer.write(all.notJudged() + "</p><p>task or kbx at fault; not in the rates</p></div>\n");
    }
  }

  /** The rate over all requested tasks, and below it the rate over judged candidates. */
  private void tile(Writer writer, String name, @Nullable Rate tasks, @Nullable Rate candidates)
      throws IOException {
    writer.write("<div class=\"tile\"><h2>" + name + "</h2>");
    if (tasks == null) {
      writer.write("<p class=\"figure unknown\">not measured</p></div>\n");
      return;
    }
    writer.write("<p class=\"figure\">" + Bar.percent(tasks.value()) + "</p>" + Bar.of(tasks));
    writer.write(
        "<p>%d of %s asked for<br>95 %% interval %s</p>"
            .formatted(
                tasks.passes(),
                Counted.of(tasks.total(), "task"),
                Bar.interval(tasks.low(), tasks.high())));
    writer.write(
        candidates == null
            ? "<p>no candidate judged</p></div>\n"
            : "<p>%d of %s, %s</p></div>\n"
                .formatted(
                    candidates.passes(),
                    Notes.counted(candidates.total(), run),
                    Bar.percent(candidates.value())));
  }

  private static void speedupTile(Writer writer, SetSpeedup speedup, String baseline)
      throws IOException {
    writer.write("<div class=\"tile\"><h2>Speedup, geometric mean</h2><p class=\"figure\">");
    writer.write(String.format(Locale.ROOT, "%.2f×</p><p>", speedup.geometricMean()));
    if (speedup.low() != null && speedup.high() != null) {
      writer.write(
          String.format(
              Locale.ROOT, "95 %% interval %.2f–%.2f×<br>", speedup.low(), speedup.high()));
    }
    writer.write(
        String.format(
            Locale.ROOT,
            "over %s, %s<br>against %s<br>median %.2f× · %d of %s slower than 1×</p></div>\n",
            Counted.of(speedup.tasks(), "task"),
            Counted.of(speedup.candidates(), "candidate"),
            Html.escape(baseline),
            speedup.median(),
            speedup.slower(),
            Counted.of(speedup.tasks(), "task")));
  }

  void statuses(Writer writer) throws IOException {
    Map<Status, Integer> counts = Tally.byStatus(rows);
    int most = counts.values().stream().mapToInt(c -> c).max().orElse(1);
    for (var entry : counts.entrySet()) {
      Status status = entry.getKey();
      writer.write(
          """
          <li><a class="name" href="#status=%1$s"><span class="status %2$s">%1$s</span></a>\
          <svg class="bar %2$s" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">\
          <rect class="fill" width="%3$s" height="8"/></svg><span class="count">%4$d</span></li>
          """
              .formatted(
                  status.label(),
                  HtmlReport.tone(status),
                  Bar.decimal(100.0 * entry.getValue() / most),
                  entry.getValue()));
    }
  }

  void categories(Writer writer) throws IOException {
    boolean values = tally.hasOtherRightValues(rows);
    for (Tally.Passes passes : tally.byCategory(rows)) category(writer, passes, values, "<tr>");
    category(writer, tally.candidates("All", rows), values, "<tr class=\"total\">");
    category(writer, tally.tasks("Tasks asked for", rows), values, "<tr class=\"tasks\">");
  }

  /**
   * Writes one row.
   *
   * @param values whether right values and correct are two columns
   */
  private void category(Writer writer, Tally.Passes passes, boolean values, String row)
      throws IOException {
    writer.write(row + "<th scope=\"row\">" + Html.escape(passes.name()) + "</th>");
    writer.write("<td class=\"number\">" + passes.candidates() + "</td>");
    String unknown = Notes.unknown(passes);
    RateCell.write(writer, "called", passes.call(), unknown);
    if (values) RateCell.write(writer, "right values", passes.values(), unknown);
    RateCell.write(writer, "correct", passes.correct(), unknown);
    if (tally.general())
      RateCell.write(writer, "general", passes.general(), Notes.unknownGeneral(passes));
    RateCell.write(writer, "timed", passes.perf(), unknown);
    writer.write("</tr>\n");
  }
}
