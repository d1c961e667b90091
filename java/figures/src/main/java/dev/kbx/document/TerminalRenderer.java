package dev.kbx.document;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Documents for a terminal: text wrapped between words, tables as aligned columns. A table that
 * does not fit loses its columns that are not essential; {@code --json} has them. If the others do
 * not fit either, they follow each other in several tables.
 *
 * @param width columns of the terminal
 * @param colour whether to write ANSI colours
 */
public record TerminalRenderer(int width, boolean colour) {
  /** To so many characters text is cut at most, that columns of numbers fit beside it. */
  private static final int LEAST = 24;

  /** The column at which prose below a row begins. */
  private static final int INDENT = 4;

  private static final int DIM = 2;
  private static final int RED = 31;
  private static final int GREEN = 32;
  private static final int YELLOW = 33;

  /** Without colours. */
  public TerminalRenderer(int width) {
    this(width, false);
  }

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
      case Block.Note note -> wrap(note.text()).stream().map(line -> paint(YELLOW, line)).toList();
      case Block.Source source -> source.text().lines().map(line -> Text.cut(line, width)).toList();
      case Block.Diff diff -> diff.text().lines().map(line -> Text.cut(line, width)).toList();
      case Block.Tiles tiles -> tiles.tiles().stream().flatMap(each -> tile(each)).toList();
      case Figure figure -> wrap(figure.caption());
      case Block.Table table -> table(table);
    };
  }

  private Stream<String> tile(Block.Tile tile) {
    return wrap("%s: %s. %s".formatted(tile.title(), tile.figure().text(), tile.remark()).strip())
        .stream();
  }

  private List<String> wrap(String text) {
    return Text.wrap(Text.clean(text), width, Integer.MAX_VALUE);
  }

  /** Whether all columns of a table fit. */
  public boolean fits(Block.Table table) {
    return grid(table).fits(width);
  }

  /** A table under its caption. */
  public List<String> table(Block.Table table) {
    List<String> lines = table.caption().isEmpty() ? new ArrayList<>() : wrap(table.caption());
    lines = new ArrayList<>(lines);
    boolean wrapped = table.columns().getLast().wrapped();
    Block.Table bare = wrapped ? withoutLast(table) : table;
    Block.Table shown = grid(bare).fits(width) ? table : essential(table);
    if (!wrapped && !grid(shown).fits(width)) shown = numbered(shown, lines);
    if (wrapped) {
      lines.addAll(wrapped(shown));
    } else if (grid(shown).fits(width)) {
      lines.addAll(painted(shown, width));
    } else {
      for (Block.Table part : shown.parts(width, 2, LEAST)) lines.addAll(painted(part, width));
    }
    return lines;
  }

  private List<String> painted(Block.Table table, int columns) {
    return grid(table)
        .lines(
            columns,
            (row, column, text) ->
                row == 0
                    ? paint(DIM, text)
                    : paint(colourOf(table.rows().get(row - 1).get(column)), text));
  }

  private static int colourOf(Cell cell) {
    return switch (cell) {
      case Cell.Link link -> colourOf(link.shown());
      case Cell.Label label ->
          switch (label.tone()) {
            case GOOD -> GREEN;
            case BAD -> RED;
            case ODD -> YELLOW;
          };
      default -> 0;
    };
  }

  private String paint(int code, String text) {
    return colour && code != 0 ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
  }

  /** Columns whose heads are turned on paper have numbers here, which lines above explain. */
  private static Block.Table numbered(Block.Table table, List<String> lines) {
    List<Column> columns = new ArrayList<>();
    for (Column column : table.columns()) {
      String number = Integer.toString(columns.size());
      columns.add(column.upright() ? column.called(number) : column);
      if (column.upright()) lines.add("%3s  %s".formatted(number, Text.clean(column.head())));
    }
    return new Block.Table(table.id(), table.caption(), columns, table.rows());
  }

  private static Block.Table withoutLast(Block.Table table) {
    return table.of(IntStream.range(0, table.columns().size() - 1).boxed().toList());
  }

  private static Block.Table essential(Block.Table table) {
    return table.of(
        IntStream.range(0, table.columns().size())
            .filter(i -> table.columns().get(i).essential())
            .boxed()
            .toList());
  }

  /**
   * The last column's cells are broken into lines: beside the others, or if these leave too little
   * room below their row.
   */
  private List<String> wrapped(Block.Table table) {
    Block.Table others = withoutLast(table);
    int taken = 2 + grid(others).lines(width).stream().mapToInt(Text::columns).max().orElse(0);
    boolean beside = width - taken >= Math.max(LEAST, width / 3);
    int indent = beside ? taken : INDENT;
    List<String> names = painted(others, width);
    List<String> plain = grid(others).lines(width);
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      String cell =
          i == 0 ? table.columns().getLast().head() : table.rows().get(i - 1).getLast().text();
      List<String> parts =
          cell.isEmpty() || (i == 0 && !beside)
              ? List.of()
              : Text.wrap(Text.clean(cell), width - indent, Integer.MAX_VALUE);
      if (!beside || parts.isEmpty()) lines.add(names.get(i));
      String start = beside ? names.get(i) + " ".repeat(indent - Text.columns(plain.get(i))) : null;
      for (String part : parts) {
        String before = start == null ? " ".repeat(indent) : start;
        lines.add(before + paint(DIM, part));
        start = null;
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
