package dev.kbx.paper;

import java.util.ArrayList;
import java.util.List;

/**
 * A table as data; {@link LatexTable} and {@link MarkdownReport} render it.
 *
 * @param id its name in files and labels: lower-case letters, digits and hyphens
 * @param section of the report that it belongs to
 * @param caption what it shows and how to read it
 * @param rows as many cells each as columns, plain text
 */
record Tabular(
    String id, Section section, String caption, List<Column> columns, List<List<String>> rows) {
  Tabular {
    columns = List.copyOf(columns);
    rows = List.copyOf(rows);
    for (List<String> row : rows) {
      if (row.size() == columns.size()) continue;
      throw new IllegalArgumentException(
          "%s: %d cells in %d columns".formatted(id, row.size(), columns.size()));
    }
  }

  /** Sections of a report, in order. */
  enum Section {
    METHODS("Methods and models"),
    DEVIANCE("What explains failure"),
    ITERATIONS("Iterations"),
    SPEED("Speed"),
    PROPERTIES("Where kernels hold"),
    ERRORS("What goes wrong"),
    DEVICES("Devices"),
    BUDGET("Budget");

    private final String title;

    Section(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }
  }

  /**
   * A column.
   *
   * @param upright whether its head is turned, as many narrow columns follow each other
   */
  record Column(String head, boolean number, boolean upright) {}

  /** Columns by their heads; the first {@code texts} hold text, the others numbers. */
  static List<Column> columns(int texts, List<String> heads) {
    List<Column> columns = new ArrayList<>();
    for (String head : heads) columns.add(new Column(head, columns.size() >= texts, false));
    return columns;
  }
}
