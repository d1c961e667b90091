package dev.kbx.document;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** A part of a {@link Section}. Texts are plain; renderers escape them. */
public sealed interface Block
    permits Block.Prose, Block.Note, Block.Source, Block.Diff, Block.Tiles, Block.Table, Figure {
  /** A paragraph. */
  record Prose(String text) implements Block {}

  /** A reservation about the figures beside it. */
  record Note(String text) implements Block {}

  /**
   * Lines that keep their breaks and spaces, in a font of fixed width.
   *
   * @param language as Markdown names it: {@code python}; empty for other text
   */
  record Source(String text, String language) implements Block {}

  /** The differences of two texts by lines, as {@code diff -u} writes them. */
  record Diff(String title, String text) implements Block {}

  /** The figures to see first. */
  record Tiles(List<Tile> tiles) implements Block {
    public Tiles {
      tiles = List.copyOf(tiles);
    }
  }

  /** A figure with what it is of. */
  record Tile(String title, Cell figure, String remark) {}

  /**
   * Rows of cells under columns.
   *
   * @param id its name in files and labels: lower-case letters, digits and hyphens
   * @param caption what it shows and how to read it
   * @param stacked whether a narrow page shows each row as a list of its cells, so that none is cut
   */
  record Table(
      String id, String caption, List<Column> columns, List<List<Cell>> rows, boolean stacked)
      implements Block {
    public Table(String id, String caption, List<Column> columns, List<List<Cell>> rows) {
      this(id, caption, columns, rows, false);
    }

    /** This table under another name, with words before its caption. */
    public Table renamed(String other, String before) {
      return new Table(other, before + caption, columns, rows, stacked);
    }

    /** This table with its rows as lists where a page is narrow. */
    public Table stack() {
      return new Table(id, caption, columns, rows, true);
    }

    public Table {
      columns = List.copyOf(columns);
      rows = List.copyOf(rows);
      for (List<Cell> row : rows) {
        if (row.size() == columns.size()) continue;
        throw new IllegalArgumentException(
            "%s: %d cells in %d columns".formatted(id, row.size(), columns.size()));
      }
    }

    /** Characters of a column's widest cell, and of its head unless that is turned. */
    int width(int column) {
      int head = columns.get(column).upright() ? 1 : Text.columns(columns.get(column).head());
      return rows.stream()
          .mapToInt(row -> Text.columns(Text.clean(row.get(column).text())))
          .reduce(head, Math::max);
    }

    /** This table without intervals. */
    public Table brief() {
      return new Table(
          id,
          caption,
          columns,
          rows.stream()
              .map(row -> row.stream().map(cell -> Cell.text(cell.brief())).toList())
              .toList());
    }

    /** The table with these columns alone. */
    public Table of(List<Integer> kept) {
      return new Table(
          id,
          caption,
          kept.stream().map(columns::get).toList(),
          rows.stream().map(row -> kept.stream().map(row::get).toList()).toList(),
          stacked);
    }

    /** This table without the columns that say nothing of any row. */
    public Table withoutEmpty() {
      return of(
          IntStream.range(0, columns.size())
              .filter(i -> rows.stream().anyMatch(row -> !(row.get(i) instanceof Cell.Missing)))
              .boxed()
              .toList());
    }

    /**
     * Tables of some of the columns of numbers each that fit, all beginning with the columns of
     * text that name the rows.
     *
     * @param width characters, with {@code gap} between columns
     * @param least characters to which a column of text may be cut
     */
    List<Table> parts(int width, int gap, int least) {
      List<Integer> names = new ArrayList<>();
      while (names.size() < columns.size() && !columns.get(names.size()).number()) {
        names.add(names.size());
      }
      if (names.isEmpty()) names.add(0);
      int named = names.stream().mapToInt(i -> Math.min(least, width(i)) + gap).sum();
      List<Table> parts = new ArrayList<>();
      List<Integer> kept = new ArrayList<>(names);
      int taken = named;
      for (int i = names.size(); i < columns.size(); i++) {
        Column column = columns.get(i);
        int own = gap + (column.number() ? width(i) : Math.min(least, width(i)));
        if (taken + own > width + gap && kept.size() > names.size()) {
          parts.add(of(kept));
          kept = new ArrayList<>(names);
          taken = named;
        }
        kept.add(i);
        taken += own;
      }
      parts.add(of(kept));
      return parts;
    }

    /** A table with a row for each element. */
    public static <T> Table of(
        String id, String caption, List<Column.Of<T>> columns, List<T> elements) {
      List<List<Cell>> rows = new ArrayList<>();
      for (T each : elements) {
        rows.add(columns.stream().map(column -> column.cell().apply(each)).toList());
      }
      return new Table(id, caption, columns.stream().map(Column.Of::column).toList(), rows);
    }
  }
}
