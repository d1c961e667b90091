package dev.kbx.paper;

import dev.kbx.paper.Tabular.Section;
import dev.kbx.report.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A publication as one Markdown file: tables by section, and how they were measured. */
public final class MarkdownReport {
  private MarkdownReport() {}

  public static String of(Publication publication) {
    List<String> lines = new ArrayList<>();
    lines.add("# " + escape(publication.title()));
    List<Tabular> tables = Tables.of(publication);
    for (Section section : Section.values()) {
      List<Tabular> own = tables.stream().filter(table -> table.section() == section).toList();
      if (own.isEmpty()) continue;
      lines.add("");
      lines.add("## " + section.title());
      own.forEach(table -> table(lines, table));
    }
    if (!publication.without().isEmpty()) {
      lines.add("");
      lines.add("## Without data");
      lines.add("");
      for (Publication.Without each : publication.without()) {
        lines.add("- %s: %s.".formatted(escape(each.analysis()), escape(each.why())));
      }
    }
    lines.add("");
    lines.add("## " + Measurement.TITLE);
    for (Appendix.Item item : Appendix.of(publication.measurement())) {
      lines.add("");
      lines.add("**" + item.subject() + ".**");
      lines.add("");
      item.items().forEach(sentence -> lines.add("- " + escape(sentence)));
    }
    return String.join("\n", lines) + "\n";
  }

  private static void table(List<String> lines, Tabular table) {
    lines.add("");
    lines.add(escape(table.caption()));
    lines.add("");
    lines.add(row(table.columns().stream().map(Tabular.Column::head).toList()));
    lines.add(
        table.columns().stream()
            .map(column -> column.number() ? "--:" : ":--")
            .collect(Collectors.joining(" | ", "| ", " |")));
    table.rows().forEach(row -> lines.add(row(row)));
  }

  private static String row(List<String> cells) {
    return cells.stream()
        .map(MarkdownReport::escape)
        .collect(Collectors.joining(" | ", "| ", " |"));
  }

  /** Plain text as Markdown; an underscore within a word is none of its marks. */
  static String escape(String text) {
    String clean = Text.clean(text);
    StringBuilder escaped = new StringBuilder();
    for (int i = 0; i < clean.length(); i++) {
      char c = clean.charAt(i);
      boolean within =
          i > 0
              && i + 1 < clean.length()
              && Character.isLetterOrDigit(clean.charAt(i - 1))
              && Character.isLetterOrDigit(clean.charAt(i + 1));
      if (c == '&') escaped.append("&amp;");
      else if (c == '<') escaped.append("&lt;");
      else if ("\\|*`~[]".indexOf(c) >= 0 || (c == '_' && !within)) escaped.append('\\').append(c);
      else escaped.append(c);
    }
    return escaped.toString();
  }
}
