package dev.kbx.report;

import dev.kbx.analysis.Maker;
import dev.kbx.analysis.MethodRates;
import dev.kbx.analysis.MethodRates.OfOutcome;
import dev.kbx.analysis.MethodRates.Share;
import dev.kbx.analysis.Outcome;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The share of correct candidates by category and by method and model as markup; each cell links to
 * its candidates.
 *
 * @param labels of the methods
 */
record HeatMap(List<MethodRates> methods, List<String> labels, boolean samples) {
  /** Shades of the style sheet, from 0. */
  private static final int SHADES = 10;

  void write(Writer writer) throws IOException {
    List<OfOutcome> columns = new ArrayList<>();
    for (MethodRates each : methods) columns.addAll(correct(each));
    if (columns.size() != methods.size()) return;
    writer.write(
        "<section id=\"heat\">\n"
            + "<h2>By category</h2>\n"
            + "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Correct by"
            + " category and method\"><table class=\"heat\">\n"
            + "<thead><tr><th scope=\"col\">Category</th>");
    for (String label : labels) writer.write("<th scope=\"col\">" + Html.escape(label) + "</th>");
    writer.write("</tr></thead>\n<tbody>\n");
    for (int i = 0; i < columns.getFirst().categories().size(); i++) {
      List<Share> cells = new ArrayList<>();
      for (OfOutcome column : columns) cells.add(column.categories().get(i));
      row(writer, "<tr>", Objects.requireNonNull(cells.getFirst().category()), cells);
    }
    row(writer, "<tr class=\"total\">", "All", columns.stream().map(OfOutcome::all).toList());
    writer.write("</tbody>\n</table></div>\n<p class=\"legend\">Correct, in percent of ");
    writer.write(
        samples
            ? "a task’s samples, as the mean over the tasks asked for."
            : "the tasks asked for; below it their numbers.");
    writer.write(" A cell shows its candidates.</p>\n</section>\n");
  }

  private static List<OfOutcome> correct(MethodRates each) {
    return each.outcomes().stream().filter(o -> o.outcome() == Outcome.CORRECT).toList();
  }

  private void row(Writer writer, String start, String name, List<Share> cells) throws IOException {
    writer.write(start + "<th scope=\"row\">" + Html.escape(name) + "</th>");
    for (int i = 0; i < cells.size(); i++) cell(writer, cells.get(i), methods.get(i).maker());
    writer.write("</tr>\n");
  }

  private void cell(Writer writer, Share share, Maker maker) throws IOException {
    if (share.share() == null) {
      writer.write("<td class=\"unknown\">–</td>");
      return;
    }
    String link = Anchors.filter(maker, "category", share.category());
    writer.write(
        "<td class=\"%s\"><a href=\"%s\">%s%s</a></td>"
            .formatted(
                shade(share.share()),
                link,
                Bar.percent(share.share()),
                samples ? "" : "<small>%d/%d</small>".formatted(share.passes(), share.tasks())));
  }

  /** The style of a share. */
  static String shade(double share) {
    return "h" + Math.round(share * SHADES);
  }
}
