package dev.kbx.document;

import java.util.ArrayList;
import java.util.List;

/** A part of a {@link Section}. Texts are plain; renderers escape them. */
public sealed interface Block {
  /** A paragraph. */
  record Prose(String text) implements Block {}

  /** A reservation about the figures beside it. */
  record Note(String text) implements Block {}

  /**
   * Rows of cells under columns.
   *
   * @param id its name in files and labels: lower-case letters, digits and hyphens
   * @param caption what it shows and how to read it
   */
  record Table(String id, String caption, List<Column> columns, List<List<Cell>> rows)
      implements Block {
    public Table {
      columns = List.copyOf(columns);
      rows = List.copyOf(rows);
      for (List<Cell> row : rows) {
        if (row.size() == columns.size()) continue;
        throw new IllegalArgumentException(
            "%s: %d cells in %d columns".formatted(id, row.size(), columns.size()));
      }
    }

    /** A column that every row fills from its element. */
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
