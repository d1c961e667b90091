package dev.kbx.document;

import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.List;

/** Parts of documents as LaTeX: tables of booktabs with caption and label. */
public final class LatexRenderer {
  /** Rows of a table that fit a page; longer ones are several tables. */
  private static final int ROWS = 45;

  /** Characters that are legible beside each other; wider tables are several. */
  private static final int WIDTH = 120;

  /** Characters that a column of text takes at most of them. */
  private static final int LEAST = 40;

  private LatexRenderer() {}

  /** A section under its heading, ending in a line break. */
  public static String render(Section section) {
    return "\\section{%s}\n%s"
        .formatted(
            Latex.escape(section.title()),
            section.blocks().stream().map(LatexRenderer::render).collect(joining()));
  }

  /** A block, ending in a line break. */
  public static String render(Block block) {
    return switch (block) {
      case Block.Prose prose -> Latex.escape(prose.text()) + "\n\n";
      case Block.Note note -> "\\emph{" + Latex.escape(note.text()) + "}\n\n";
      case Block.Source source -> lines(source.text());
      case Block.Diff diff -> lines(diff.text());
      case Block.Tiles tiles ->
          tiles.tiles().stream().map(LatexRenderer::tile).collect(joining("\n", "", "\n\n"));
      case Figure figure -> PgfFigure.of(figure);
      case Block.Table table -> table(table);
    };
  }

  private static String lines(String text) {
    return text.lines()
        .map(line -> "\\texttt{" + Latex.escape(line) + "}\\\\\n")
        .collect(joining("", "\\noindent\n", "\n"));
  }

  private static String tile(Block.Tile tile) {
    return Latex.escape(
        "%s: %s. %s".formatted(tile.title(), tile.figure().text(), tile.remark()).strip());
  }

  private static String table(Block.Table table) {
    List<Block.Table> parts = new ArrayList<>();
    for (Block.Table part : table.parts(WIDTH, 2, LEAST)) {
      for (List<List<Cell>> rows : Chunks.of(part.rows(), ROWS)) {
        parts.add(new Block.Table(part.id(), part.caption(), part.columns(), rows));
      }
    }
    StringBuilder tex = new StringBuilder();
    for (int i = 0; i < parts.size(); i++) tex.append(part(parts.get(i), i, parts.size()));
    return tex.toString();
  }

  private static String part(Block.Table table, int part, int parts) {
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
            table.columns().stream().map(LatexRenderer::alignment).collect(joining()),
            table.columns().stream().map(LatexRenderer::head).collect(joining(" & ")),
            table.rows().stream().map(LatexRenderer::row).collect(joining("\n")));
  }

  private static String alignment(Column column) {
    if (column.wrapped()) return "p{0.6\\textwidth}";
    return column.number() ? "r" : "l";
  }

  private static String head(Column column) {
    String head = Latex.escape(column.head());
    if (column.upright()) return "\\rotatebox{90}{" + head + "}";
    return column.number() ? "\\multicolumn{1}{r}{" + head + "}" : head;
  }

  private static String row(List<Cell> cells) {
    return cells.stream().map(cell -> Latex.escape(cell.text())).collect(joining(" & ")) + " \\\\";
  }
}
