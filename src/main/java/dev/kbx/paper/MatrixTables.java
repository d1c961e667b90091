package dev.kbx.paper;

import dev.kbx.analysis.Maker;
import dev.kbx.analysis.PropertyMatrix;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Chunks;
import dev.kbx.document.Column;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where kernels hold: properties against methods, and for a few methods the matrix of tasks and
 * properties of each.
 */
final class MatrixTables {
  /** Columns of a table: the properties broken most often. */
  private static final int PROPERTIES = 16;

  private static final int TASKS = 40;

  /** Methods whose matrices are shown; those of more are in the JSON document. */
  private static final int MATRICES = 4;

  /** Methods beside each other. */
  private static final int ACROSS = 8;

  private MatrixTables() {}

  static List<Table> of(List<PropertyMatrix> unsorted, Makers makers) {
    List<PropertyMatrix> all =
        unsorted.stream().sorted(Comparator.comparing(MatrixTables::maker)).toList();
    List<Table> tables = new ArrayList<>(totals(all, makers));
    if (all.size() > MATRICES) return tables;
    for (int i = 0; i < all.size(); i++) {
      PropertyMatrix matrix = all.get(i);
      String id = Chunks.id("matrix", i, all.size());
      List<List<PropertyMatrix.Task>> parts = Chunks.of(matrix.tasks(), TASKS);
      for (int part = 0; part < parts.size(); part++) {
        tables.add(
            table(
                matrix,
                parts.get(part),
                parts.size() == 1 ? id : id + "-part-" + (part + 1),
                makers.of(matrix.method(), matrix.model())));
      }
    }
    return tables;
  }

  private static Maker maker(PropertyMatrix matrix) {
    return new Maker(matrix.method(), matrix.model());
  }

  private static List<Table> totals(List<PropertyMatrix> all, Makers makers) {
    List<String> properties =
        all.stream().flatMap(each -> each.properties().stream()).distinct().sorted().toList();
    List<Table> tables = new ArrayList<>();
    List<List<PropertyMatrix>> parts = Chunks.of(all, ACROSS);
    for (List<PropertyMatrix> part : parts) {
      List<Column> columns = new ArrayList<>(List.of(Column.text("property")));
      for (PropertyMatrix each : part) {
        String name = makers.of(each.method(), each.model());
        columns.add(part.size() > 4 ? Column.number(name).turned() : Column.number(name));
      }
      tables.add(
          new Table(
              Chunks.id("properties", tables.size(), parts.size()),
              "Candidates of all rounds that are right for calls with a property, of those that are"
                  + " right at the published grade and were asked.",
              columns,
              properties.stream().map(property -> total(property, part)).toList()));
    }
    return tables;
  }

  private static List<Cell> total(String property, List<PropertyMatrix> part) {
    List<Cell> row = new ArrayList<>(List.of(Cell.text(property)));
    for (PropertyMatrix each : part) {
      int held = 0;
      int asked = 0;
      for (PropertyMatrix.Task task : each.tasks()) {
        PropertyMatrix.Cell own = task.cells().get(property);
        if (own == null) continue;
        held += own.held();
        asked += own.held() + own.broken();
      }
      row.add(asked == 0 ? Cell.missing() : Cell.part(held, asked));
    }
    return row;
  }

  private static Table table(
      PropertyMatrix matrix, List<PropertyMatrix.Task> tasks, String id, String name) {
    List<String> shown =
        matrix.properties().subList(0, Math.min(PROPERTIES, matrix.properties().size()));
    List<Column> columns = new ArrayList<>(List.of(Column.text("task")));
    for (String property : shown) columns.add(Column.number(property).turned());
    List<List<Cell>> rows = new ArrayList<>();
    for (PropertyMatrix.Task task : tasks) {
      List<Cell> row = new ArrayList<>(List.of(Cell.text(task.path())));
      for (String property : shown) row.add(cell(task.cells().get(property)));
      rows.add(row);
    }
    int more = matrix.properties().size() - shown.size();
    return new Table(
        id,
        "Where kernels hold that are right at the published grade (%s): candidates that are right for calls with a property, of those asked; those broken most often first%s."
            .formatted(name, more == 0 ? "" : ", %d more not shown".formatted(more)),
        columns,
        rows);
  }

  private static Cell cell(PropertyMatrix.@Nullable Cell asked) {
    return asked == null ? Cell.missing() : Cell.part(asked.held(), asked.held() + asked.broken());
  }
}
