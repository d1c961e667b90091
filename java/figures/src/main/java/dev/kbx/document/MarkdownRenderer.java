package dev.kbx.document;

import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Documents as Markdown with pipe tables, as GitHub reads it. */
public final class MarkdownRenderer {
  /** What makes a heading, a quotation or a list of a line. */
  private static final Pattern BEGINS_A_BLOCK = Pattern.compile("^(\\d*)(>|[#+.)-](?=[\\s#]|$))");

  private static final Pattern FENCE = Pattern.compile("`+");

  private MarkdownRenderer() {}

  /** A document under a heading of the first level, ending in a line break. */
  public static String render(Document document) {
    List<String> lines = new ArrayList<>(List.of("# " + escape(document.title())));
    document.sections().forEach(section -> lines.addAll(lines(section)));
    return String.join("\n", lines) + "\n";
  }

  /** A section under a heading of the second level, or in what GitHub shows folded. */
  public static List<String> lines(Section section) {
    List<String> lines = new ArrayList<>(List.of(""));
    if (section.folded()) {
      lines.add("<details>");
      lines.add("<summary>%s</summary>".formatted(escape(section.title())));
    } else {
      lines.add("## " + escape(section.title()));
    }
    for (Block block : section.blocks()) {
      lines.add("");
      switch (block) {
        case Block.Prose prose -> lines.add(escape(prose.text()));
        case Block.Note note -> lines.add("> " + escape(note.text()));
        case Block.Source source -> fenced(lines, source.text(), source.language());
        case Block.Diff diff -> fenced(lines, diff.text(), "diff");
        case Block.Tiles tiles -> tiles.tiles().forEach(tile -> lines.add(tile(tile)));
        case Figure figure -> lines.add(escape(figure.caption()));
        case Block.Table table -> table(lines, table);
      }
    }
    if (section.folded()) lines.addAll(List.of("", "</details>"));
    return lines;
  }

  /** Lines within a fence that is longer than any of theirs. */
  private static void fenced(List<String> lines, String text, String language) {
    String visible = Text.visible(text);
    int longest =
        FENCE.matcher(visible).results().mapToInt(each -> each.group().length()).max().orElse(0);
    String fence = "`".repeat(Math.max(3, longest + 1));
    lines.add(fence + language);
    visible.lines().forEach(lines::add);
    lines.add(fence);
  }

  private static String tile(Block.Tile tile) {
    return "- "
        + escape("%s: %s. %s".formatted(tile.title(), tile.figure().text(), tile.remark()).strip());
  }

  private static void table(List<String> lines, Block.Table table) {
    if (!table.caption().isEmpty()) {
      lines.add(escape(table.caption()));
      lines.add("");
    }
    lines.add(row(table.columns().stream().map(Column::head).toList()));
    lines.add(
        table.columns().stream()
            .map(column -> column.number() ? "--:" : ":--")
            .collect(joining(" | ", "| ", " |")));
    for (List<Cell> cells : table.rows()) lines.add(row(cells.stream().map(Cell::text).toList()));
  }

  private static String row(List<String> cells) {
    return cells.stream().map(MarkdownRenderer::escape).collect(joining(" | ", "| ", " |"));
  }

  /** Plain text as Markdown; an underscore within a word is none of its marks. */
  public static String escape(String text) {
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
    return BEGINS_A_BLOCK.matcher(escaped).replaceFirst("$1\\\\$2");
  }
}
