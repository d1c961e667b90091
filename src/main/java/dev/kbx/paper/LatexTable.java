package dev.kbx.paper;

import dev.kbx.paper.Tabular.Column;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A {@link Tabular} as a LaTeX {@code table} with booktabs, caption and label. Long ones are
 * several tables; wide ones are made smaller.
 */
final class LatexTable {
  private static final int ROWS = 45;

  private LatexTable() {}

  static String of(Tabular table) {
    List<List<List<String>>> parts = Chunks.of(table.rows(), ROWS);
    StringBuilder tex = new StringBuilder();
    for (int i = 0; i < parts.size(); i++) tex.append(part(table, parts.get(i), i, parts.size()));
    return tex.toString();
  }

  private static String part(Tabular table, List<List<String>> rows, int part, int parts) {
    String caption = Latex.escape(table.caption());
    return """
    \\begin{table}
    \\centering
    \\caption{%s}
    \\label{tab:%s}
    \\footnotesize
    \\begin{adjustbox}{max width=\\textwidth}
    \\begin{tabular}{@{}%s@{}}
    \\toprule
    %s \\\\
    \\midrule
    %s
    \\bottomrule
    \\end{tabular}
    \\end{adjustbox}
    \\end{table}
    """
        .formatted(
            part == 0 ? caption : caption + " (continued)",
            Chunks.id(table.id(), part, parts),
            table.columns().stream()
                .map(column -> column.number() ? "r" : "l")
                .collect(Collectors.joining()),
            table.columns().stream().map(LatexTable::head).collect(Collectors.joining(" & ")),
            rows.stream().map(LatexTable::row).collect(Collectors.joining("\n")));
  }

  private static String head(Column column) {
    String head = Latex.escape(column.head());
    if (column.upright()) return "\\rotatebox{90}{" + head + "}";
    return column.number() ? "\\multicolumn{1}{r}{" + head + "}" : head;
  }

  private static String row(List<String> cells) {
    return cells.stream().map(Latex::escape).collect(Collectors.joining(" & ")) + " \\\\";
  }
}
