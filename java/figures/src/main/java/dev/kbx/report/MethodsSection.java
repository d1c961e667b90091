package dev.kbx.report;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.document.HtmlRenderer;
import dev.kbx.document.Section;
import dev.kbx.section.Captions;
import dev.kbx.section.TrajectoriesSection;
import dev.kbx.verdict.Spent;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;

/** Methods and models beside each other, as markup; none is mixed with another. */
record MethodsSection(List<TrajectoryRow> rows) {
  /** So many trajectories are shown round by round; the details of candidates have all. */
  private static final int MOST_TRAJECTORIES = 60;

  /** How good each method is. */
  void rates(Writer writer) throws IOException {
    writer.write(HtmlRenderer.render(TrajectoriesSection.rates(rows)));
  }

  /** What methods solve within a budget, and how answers came about. */
  void rounds(Writer writer) throws IOException {
    curves(writer, TrajectoryRates.of(rows));
    Section rounds = TrajectoriesSection.rounds(rows, MOST_TRAJECTORIES);
    if (rounds != null) writer.write(HtmlRenderer.render(rounds));
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
}
