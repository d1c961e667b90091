package dev.kbx.document;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Documents for a terminal: text wrapped between words, tables as aligned columns. A table that
 * does not fit loses its columns that are not essential; {@code --json} has them. If the others do
 * not fit either, they follow each other in several tables.
 *
 * @param width columns of the terminal
 */
public record TerminalRenderer(int width) {
  /** To so many characters text is cut at most, that columns of numbers fit beside it. */
  private static final int LEAST = 24;

  /** The sections, each under its title unless that is the document's, ending in a line break. */
  public String render(Document document) {
    List<String> lines = new ArrayList<>();
    Block last = null;
    for (Section section : document.sections()) {
      if (!section.title().equals(document.title())) {
        if (last != null) lines.add("");
        lines.addAll(wrap(section.title()));
        last = null;
      }
      for (Block block : section.blocks()) {
        boolean follows = block instanceof Block.Note && last instanceof Block.Note;
        if (last != null && !follows) lines.add("");
        lines.addAll(lines(block));
        last = block;
      }
    }
    return String.join("\n", lines) + "\n";
  }

  private List<String> lines(Block block) {
    return switch (block) {
      case Block.Prose prose -> wrap(prose.text());
      case Block.Note note -> wrap(note.text());
      case Block.Source source -> source.text().lines().map(line -> Text.cut(line, width)).toList();
      case Block.Table table -> table(table);
    };
  }

  private List<String> wrap(String text) {
    return Text.wrap(Text.clean(text), width, Integer.MAX_VALUE);
  }

  private List<String> table(Block.Table table) {
    List<String> lines = table.caption().isEmpty() ? new ArrayList<>() : wrap(table.caption());
    lines = new ArrayList<>(lines);
    Block.Table shown = grid(table).fits(width) ? table : essential(table);
    if (shown.columns().getLast().wrapped()) {
      lines.addAll(wrapped(shown));
    } else if (grid(shown).fits(width)) {
      lines.addAll(grid(shown).lines(width));
    } else {
      for (Block.Table part : shown.parts(width, 2, LEAST)) lines.addAll(grid(part).lines(width));
    }
    return lines;
  }

  private static Block.Table essential(Block.Table table) {
    return table.of(
        IntStream.range(0, table.columns().size())
            .filter(i -> table.columns().get(i).essential())
            .boxed()
            .toList());
  }

  /** The last column's cells are broken into lines, which begin under each other. */
  private List<String> wrapped(Block.Table table) {
    List<Integer> others = IntStream.range(0, table.columns().size() - 1).boxed().toList();
    List<String> names = grid(table.of(others)).lines(width - LEAST - 2);
    int indent = 2 + names.stream().mapToInt(Text::columns).max().orElse(0);
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      String cell =
          i == 0 ? table.columns().getLast().head() : table.rows().get(i - 1).getLast().text();
      String start = Text.left(names.get(i), indent);
      for (String part : Text.wrap(Text.clean(cell), width - indent, Integer.MAX_VALUE)) {
        lines.add(Text.cut((start + part).stripTrailing(), width));
        start = " ".repeat(indent);
      }
    }
    return lines;
  }

  private static Grid grid(Block.Table table) {
    StringBuilder align = new StringBuilder();
    List<String> heads = new ArrayList<>();
    for (Column column : table.columns()) {
      align.append(column.number() ? 'r' : 'l');
      heads.add(column.head());
    }
    List<List<String>> rows = new ArrayList<>(List.of(heads));
    for (List<Cell> row : table.rows()) {
      rows.add(row.stream().map(cell -> Text.clean(cell.text())).toList());
    }
    return new Grid(align.toString(), rows);
  }
}
