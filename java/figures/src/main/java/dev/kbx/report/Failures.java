package dev.kbx.report;

import dev.kbx.analysis.Errors;
import dev.kbx.analysis.Errors.OfMaker;
import dev.kbx.analysis.Errors.OfMessage;
import dev.kbx.analysis.Errors.OfStatus;
import dev.kbx.analysis.Maker;
import dev.kbx.document.Counted;
import dev.kbx.document.Text;
import dev.kbx.section.ErrorsSection;
import dev.kbx.verdict.Status;
import java.io.IOException;
import java.io.Writer;
import java.util.List;

/**
 * What goes wrong as markup: statuses with a column for each method, and the most frequent
 * messages.
 *
 * @param labels of the methods and models
 */
record Failures(Errors errors, List<Maker> makers, List<String> labels) {
  private static final int MESSAGES = 8;
  private static final int LONGEST_EXAMPLE = 240;

  /** The number of candidates of each status. */
  void statuses(Writer writer) throws IOException {
    if (errors.statuses().isEmpty()) return;
    writer.write(
        "<section id=\"failures\">\n"
            + "<h2>What goes wrong</h2>\n"
            + "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Statuses by"
            + " method\"><table class=\"series\">\n"
            + "<thead><tr><th scope=\"col\">Status</th><th scope=\"col\">Stage</th>");
    for (String label : labels) {
      writer.write("<th scope=\"col\" class=\"number\">" + Html.escape(label) + "</th>");
    }
    writer.write("</tr></thead>\n<tbody>\n");
    for (OfStatus each : errors.statuses()) row(writer, each);
    writer.write("</tbody>\n</table></div>\n<p class=\"legend\">");
    writer.write(Html.escape(ErrorsSection.failed(errors)));
    writer.write(". A number shows these candidates.</p>\n</section>\n");
  }

  private void row(Writer writer, OfStatus each) throws IOException {
    writer.write(
        "<tr><th scope=\"row\">%s</th><td>%s</td>"
            .formatted(badge(each.status()), each.stage().label()));
    for (Maker maker : makers) {
      int count =
          each.makers().stream()
              .filter(own -> own.maker().equals(maker))
              .mapToInt(OfMaker::candidates)
              .sum();
      String link = Anchors.filter(maker, "status", each.status().label());
      writer.write(
          count == 0
              ? "<td class=\"number\"></td>"
              : "<td class=\"number\"><a href=\"%s\">%,d</a></td>".formatted(link, count));
    }
    writer.write("</tr>\n");
  }

  /** Messages of one shape are one. */
  void messages(Writer writer) throws IOException {
    List<OfMessage> all = errors.messages();
    if (all.isEmpty()) return;
    writer.write(
        "<section id=\"messages\">\n"
            + "<h2>Most frequent messages</h2>\n"
            + "<table class=\"messages\">\n"
            + "<thead><tr><th scope=\"col\" class=\"number\">Candidates</th><th scope=\"col\""
            + " class=\"number\">Tasks</th><th scope=\"col\">Status</th><th scope=\"col\">Message,"
            + " with the values of one of them</th></tr></thead>\n"
            + "<tbody>\n");
    for (OfMessage each : all.subList(0, Math.min(MESSAGES, all.size()))) {
      writer.write(
          "<tr><td class=\"number\">%,d</td><td class=\"number\">%,d</td><td>%s</td><td>%s <small>%s</small></td></tr>\n"
              .formatted(
                  each.candidates(),
                  each.tasks(),
                  badge(each.status()),
                  Html.escape(Text.cut(Text.clean(each.example()), LONGEST_EXAMPLE)),
                  Html.escape(each.task())));
    }
    writer.write("</tbody>\n</table>\n");
    if (all.size() > MESSAGES) {
      writer.write(
          "<p class=\"legend\">%d of %s. All: <code>kbx analyze errors</code>.</p>\n"
              .formatted(MESSAGES, Counted.of(all.size(), "message")));
    }
    writer.write("</section>\n");
  }

  static String badge(Status status) {
    return "<span class=\"status %s\">%s</span>".formatted(HtmlReport.tone(status), status.label());
  }
}
