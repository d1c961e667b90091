package dev.kbx.report;

import dev.kbx.analysis.Maker;
import dev.kbx.analysis.PropertyMatrix;
import dev.kbx.analysis.VerdictRow;
import java.io.IOException;
import java.io.Writer;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@link PropertyMatrix} as markup: one table for each method and model. */
final class PropertyTables {
  private PropertyTables() {}

  /** Writes a section, or nothing where no candidate was asked for more than the ordinary. */
  static void write(Writer writer, List<VerdictRow> rows) throws IOException {
    List<PropertyMatrix> matrices =
        PropertyMatrix.of(rows).stream()
            .sorted(Comparator.comparing(each -> new Maker(each.method(), each.model())))
            .toList();
    if (matrices.isEmpty()) return;
    writer.write("<section id=\"properties\">\n<h2>Where kernels hold</h2>\n");
    for (PropertyMatrix matrix : matrices) table(writer, matrix);
    writer.write(
        """
        <p class="legend">Candidates that are right at the published grade, in calls that ask for \
        more: ✓ holds, ✗ breaks, · not asked. Where a task has several candidates: how many of them \
        hold. The first columns break most.</p>
        </section>
        """);
  }

  private static void table(Writer writer, PropertyMatrix matrix) throws IOException {
    String whose =
        Stream.of(matrix.method(), matrix.model())
            .filter(Objects::nonNull)
            .collect(Collectors.joining(" · "));
    if (!whose.isEmpty()) writer.write("<h3>" + Html.escape(whose) + "</h3>\n");
    writer.write(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"matrix\">\n<thead><tr><td></td>");
    for (String property : matrix.properties()) {
      writer.write("<th scope=\"col\"><span>" + Html.escape(property) + "</span></th>");
    }
    writer.write("</tr></thead>\n<tbody>\n");
    for (PropertyMatrix.Task task : matrix.tasks()) {
      writer.write("<tr><th scope=\"row\">" + Html.escape(task.path()) + "</th>");
      for (String property : matrix.properties()) cell(writer, task.cells().get(property));
      writer.write("</tr>\n");
    }
    writer.write("</tbody>\n</table></div>\n");
  }

  private static void cell(Writer writer, PropertyMatrix.@Nullable Cell cell) throws IOException {
    if (cell == null) {
      writer.write("<td class=\"unknown\">·</td>");
      return;
    }
    boolean one = cell.held() + cell.broken() == 1;
    String count = cell.held() + "/" + (cell.held() + cell.broken());
    if (cell.broken() == 0) writer.write("<td>" + (one ? "✓" : count) + "</td>");
    else writer.write("<td class=\"bad\">" + (one ? "✗" : count) + "</td>");
  }
}
