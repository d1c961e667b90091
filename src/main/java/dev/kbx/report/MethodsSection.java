package dev.kbx.report;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.Spent;
import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.analysis.TrajectoryRow.Recorded;
import dev.kbx.analysis.TrajectoryRow.Round;
import dev.kbx.document.Counted;
import dev.kbx.section.Captions;
import dev.kbx.stats.TaskMean;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Methods and models beside each other, as markup; none is mixed with another. */
record MethodsSection(List<TrajectoryRow> rows) {
  /** So many trajectories are shown round by round; the details of candidates have all. */
  private static final int MOST_TRAJECTORIES = 60;

  /** How good each method is. */
  void rates(Writer writer) throws IOException {
    table(writer, TrajectoryRates.of(rows));
  }

  /** What methods solve within a budget, and how answers came about. */
  void rounds(Writer writer) throws IOException {
    curves(writer, TrajectoryRates.of(rows));
    trajectories(writer);
  }

  // ---------------------------------------------------------------- rates

  private static void table(Writer writer, List<TrajectoryRates> methods) throws IOException {
    writer.write(
        "<section id=\"methods\">\n<h2>Methods</h2>\n<table class=\"methods\">\n<thead><tr>");
    for (String title :
        List.of("Method", "Development", "Final", "Gap", "Tasks solved", "pass@k", "Spent")) {
      writer.write("<th scope=\"col\">" + title + "</th>");
    }
    writer.write("</tr></thead>\n<tbody>\n");
    for (TrajectoryRates method : methods) row(writer, method);
    writer.write(
        """
        </tbody>
        </table>
        <p class="legend">Development: of the answers judged for feedback, those correct on development inputs. \
        Final: of all answers, those correct in the final judgement, which is on inputs that no method saw. \
        Gap: the first less the second, in points. Intervals are 95 %: Wilson’s with one answer a task, else \
        by a bootstrap over tasks.</p>
        </section>
        """);
  }

  private static void row(Writer writer, TrajectoryRates method) throws IOException {
    writer.write("<tr><th scope=\"row\">" + Html.escape(method.method()));
    writer.write("<small>" + Html.escape(method.model()) + "</small></th>");
    RateCell.write(writer, "development", method.development());
    RateCell.write(writer, "final", method.finalRate());
    mean(writer, "gap", "%+.0f", "", method.gap());
    cell(
        writer,
        "tasks solved",
        method.solved() == null ? "" : method.solved() + " of " + method.tasks());
    String passes = "pass@" + method.k();
    if (method.passTasks() < method.tasks()) passes += " of %d tasks".formatted(method.passTasks());
    mean(writer, passes, "%.0f", " %", method.passAtK());
    cell(writer, "spent", spent(method));
    writer.write("</tr>\n");
  }

  private static void mean(
      Writer writer, String name, String pattern, String unit, @Nullable TaskMean mean)
      throws IOException {
    if (mean == null) {
      cell(writer, name, "");
      return;
    }
    String interval =
        mean.low() == null || mean.high() == null
            ? ""
            : " <small>%s–%s%s</small>"
                .formatted(points(pattern, mean.low()), points(pattern, mean.high()), unit);
    writer.write(
        "<td data-name=\"%s\"><span>%s%s%s</span></td>"
            .formatted(name, points(pattern, mean.value()), unit, interval));
  }

  private static String points(String pattern, double share) {
    return String.format(Locale.ROOT, pattern, (double) Math.round(share * 100));
  }

  /** A cell; one that does not apply says so with a dash. */
  private static void cell(Writer writer, String name, String text) throws IOException {
    writer.write(
        "<td data-name=\"%s\"%s>".formatted(name, text.isEmpty() ? " class=\"unknown\"" : ""));
    writer.write((text.isEmpty() ? "–" : Html.escape(text)) + "</td>");
  }

  private static String spent(TrajectoryRates method) {
    Spent spent = method.spent();
    List<String> parts = new ArrayList<>();
    parts.add(Counted.of(spent.calls(), "call"));
    if (spent.requests() != spent.calls()) parts.add(Counted.of(spent.requests(), "request"));
    if (spent.lost() > 0) parts.add(spent.lost() + " lost");
    if (spent.reported() > 0) parts.add(spent.reported() + " reported by the program");
    if (spent.tokens() > 0) {
      parts.add((spent.uncounted() > 0 ? "at least " : "") + Counted.of(spent.tokens(), "token"));
    }
    if (spent.usd() > 0) {
      parts.add((spent.unpriced() > 0 ? "at least " : "") + money(spent.usd()));
    }
    if (spent.uncounted() > 0) parts.add(spent.uncounted() + " without usage: not priced");
    if (spent.deviceSeconds() > 0) {
      parts.add(String.format(Locale.ROOT, "%.0f s judging", spent.deviceSeconds()));
    }
    return String.join(", ", parts);
  }

  private static String money(double usd) {
    return String.format(Locale.ROOT, "%.2f USD", usd);
  }

  // ---------------------------------------------------------------- curves

  private void curves(Writer writer, List<TrajectoryRates> methods) throws IOException {
    List<BudgetCurve> all = BudgetCurve.of(rows);
    if (all.stream().allMatch(curve -> curve.unknown() != null)) return;
    writer.write("<section id=\"budget\">\n<h2>Solved within a budget</h2>\n<ul class=\"key\">\n");
    for (int i = 0; i < methods.size(); i++) {
      writer.write(
          "<li><svg viewBox=\"0 0 28 8\" aria-hidden=\"true\"><path class=\"line s%d d%d\" d=\"M0 4H28\"/></svg>%s <small>%s</small></li>\n"
              .formatted(
                  i % CurveChart.COLOURS,
                  i / CurveChart.COLOURS,
                  Html.escape(methods.get(i).method()),
                  Html.escape(methods.get(i).model())));
    }
    writer.write("</ul>\n<div class=\"curves\">\n");
    for (Spent.Kind kind : Spent.Kind.values()) chart(writer, kind, all, methods);
    writer.write("</div>\n<p class=\"legend\">" + Html.escape(Captions.budget()));
    writer.write(
        " Bands: Wilson’s 95 % interval over tasks. The table: <code>kbx analyze"
            + " budget</code>.</p>\n"
            + "</section>\n");
  }

  private static void chart(
      Writer writer, Spent.Kind kind, List<BudgetCurve> all, List<TrajectoryRates> methods)
      throws IOException {
    List<BudgetCurve> own = new ArrayList<>();
    List<Integer> series = new ArrayList<>();
    for (BudgetCurve curve : all) {
      if (curve.kind() != kind || curve.unknown() != null) continue;
      own.add(curve);
      series.add(place(curve, methods));
    }
    if (!own.isEmpty()) new CurveChart(kind, own, series).write(writer);
  }

  private static int place(BudgetCurve curve, List<TrajectoryRates> methods) {
    for (int i = 0; i < methods.size(); i++) {
      TrajectoryRates method = methods.get(i);
      if (method.method().equals(curve.method()) && method.model().equals(curve.model())) return i;
    }
    throw new IllegalArgumentException("a curve of no method: " + curve.method());
  }

  // ---------------------------------------------------------------- trajectories

  private void trajectories(Writer writer) throws IOException {
    List<TrajectoryRow> several =
        rows.stream()
            .filter(row -> row.rounds().stream().filter(r -> r.status() != null).count() > 1)
            .toList();
    if (several.isEmpty()) return;
    writer.write("<section id=\"rounds\">\n<h2>How answers came about</h2>\n");
    List<String> recorded = TrajectoryRow.recordedOn(several);
    if (!recorded.isEmpty()) {
      writer.write(
          "<p class=\"note\" id=\"recorded\">Speedups marked “recorded” were not measured in this run. They are those of the ledger that it replays, measured on %s.</p>\n"
              .formatted(Html.escape(String.join("; ", recorded))));
    }
    writer.write("<table class=\"rounds\"><tbody>\n");
    for (TrajectoryRow row : several.subList(0, Math.min(several.size(), MOST_TRAJECTORIES))) {
      trajectory(writer, row);
    }
    writer.write(
        "</tbody></table>\n"
            + "<p class=\"legend\">Verdicts on development inputs, in the order of the requests. ");
    if (several.size() > MOST_TRAJECTORIES) {
      writer.write("The first %d of %d. ".formatted(MOST_TRAJECTORIES, several.size()));
    }
    writer.write(
        "Prompts and replies are in the details of each candidate below.</p>\n</section>\n");
  }

  private static void trajectory(Writer writer, TrajectoryRow row) throws IOException {
    String sample = row.sample() == 0 ? "" : "#" + row.sample();
    writer.write("<tr><th scope=\"row\">" + Html.escape(row.task() + sample));
    writer.write("<small>" + Html.escape(row.method() + " · " + row.model()) + "</small>");
    writer.write("</th><td><ol>");
    for (Round round : row.rounds()) if (round.status() != null) step(writer, round);
    writer.write("</ol></td></tr>\n");
  }

  private static void step(Writer writer, Round round) throws IOException {
    if (round.status() == null) return;
    writer.write(
        "<li><span class=\"status %s\">%s</span>"
            .formatted(HtmlReport.tone(round.status()), round.status().label()));
    if (round.speedup() != null) writer.write(" " + RateText.ratio(round.speedup().value()));
    Recorded recorded = round.recorded();
    if (recorded != null) {
      writer.write(
          " <small>recorded %s</small>".formatted(RateText.ratio(recorded.speedup().value())));
    }
    writer.write("</li>");
  }
}
