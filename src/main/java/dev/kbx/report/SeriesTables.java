package dev.kbx.report;

import dev.kbx.analysis.Tally;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.Status;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Final verdicts by status and by category as markup, with a column for each method. */
record SeriesTables(Tally tally, List<VerdictRow> rows, List<SeriesColumns> columns) {
  static SeriesTables of(Tally tally, List<VerdictRow> rows) {
    return new SeriesTables(tally, rows, SeriesColumns.of(rows));
  }

  /** Counts of statuses. */
  void statuses(Writer writer) throws IOException {
    head(writer, "Status");
    List<Map<Status, Integer>> counts =
        columns.stream().map(column -> Tally.byStatus(column.rows())).toList();
    for (Status status : Tally.byStatus(rows).keySet()) {
      writer.write(
          "<tr><th scope=\"row\"><span class=\"status %s\">%s</span></th>"
              .formatted(HtmlReport.tone(status), status.label()));
      for (Map<Status, Integer> count : counts) {
        Integer number = count.get(status);
        writer.write("<td class=\"number\">" + (number == null ? "" : number) + "</td>");
      }
      writer.write("</tr>\n");
    }
    writer.write("</tbody>\n</table></div>\n");
  }

  /** Rates of correct answers. */
  void categories(Writer writer) throws IOException {
    head(writer, "Category");
    for (String name : SeriesColumns.categories(rows, tally)) {
      row(writer, name, "", column -> column.category(name, tally));
    }
    row(writer, "All", " class=\"total\"", column -> tally.candidates("All", column.rows()));
    writer.write("</tbody>\n</table></div>\n");
  }

  private void row(
      Writer writer, String name, String kind, Function<SeriesColumns, Tally.Passes> passes)
      throws IOException {
    writer.write("<tr%s><th scope=\"row\">%s</th>".formatted(kind, Html.escape(name)));
    for (SeriesColumns column : columns) {
      writer.write("<td class=\"number\">" + rate(passes.apply(column).correct()) + "</td>");
    }
    writer.write("</tr>\n");
  }

  private static String rate(@Nullable Rate rate) {
    if (rate == null) return "<span class=\"unknown\">–</span>";
    return "%d/%d <b>%s</b>".formatted(rate.passes(), rate.total(), Bar.percent(rate.value()));
  }

  private void head(Writer writer, String first) throws IOException {
    writer.write("<div class=\"scroll\" tabindex=\"0\"><table class=\"series\">\n<thead><tr>");
    writer.write("<th scope=\"col\">" + first + "</th>");
    for (SeriesColumns column : columns) {
      writer.write("<th scope=\"col\" class=\"number\">" + Html.escape(column.label()) + "</th>");
    }
    writer.write("</tr></thead>\n<tbody>\n");
  }
}
