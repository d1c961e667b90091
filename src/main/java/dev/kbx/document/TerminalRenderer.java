package dev.kbx.document;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Documents for a terminal: text wrapped between words, tables as aligned columns. A table that
 * does not fit loses its columns that are not essential; {@code --json} has them.
 *
 * @param width columns of the terminal
 */
public record TerminalRenderer(int width) {
  /** A document without its title, ending in a line break. */
  public String render(Document document) {
    List<String> lines = new ArrayList<>();
    Block last = null;
    for (Section section : document.sections()) {
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
      case Block.Table table -> table(table);
    };
  }

  private List<String> wrap(String text) {
    return Text.wrap(Text.clean(text), width, Integer.MAX_VALUE);
  }

  private List<String> table(Block.Table table) {
    List<String> lines = table.caption().isEmpty() ? new ArrayList<>() : wrap(table.caption());
    int[] all = IntStream.range(0, table.columns().size()).toArray();
    int[] essential = IntStream.of(all).filter(i -> table.columns().get(i).essential()).toArray();
    Grid whole = grid(table, all);
    lines.addAll((whole.fits(width) ? whole : grid(table, essential)).lines(width));
    return lines;
  }

  private static Grid grid(Block.Table table, int[] columns) {
    StringBuilder align = new StringBuilder();
    List<String> heads = new ArrayList<>();
    for (int i : columns) {
      align.append(table.columns().get(i).number() ? 'r' : 'l');
      heads.add(table.columns().get(i).head());
    }
    List<List<String>> rows = new ArrayList<>(List.of(heads));
    for (List<Cell> row : table.rows()) {
      rows.add(IntStream.of(columns).mapToObj(i -> Text.clean(row.get(i).text())).toList());
    }
    return new Grid(align.toString(), rows);
  }
}
