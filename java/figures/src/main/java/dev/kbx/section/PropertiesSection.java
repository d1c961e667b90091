package dev.kbx.section;

import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.PropertyMatrix;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Cell.Tone;
import dev.kbx.document.Chunks;
import dev.kbx.document.Column;
import dev.kbx.document.Section;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where kernels hold: properties against methods, and for a few methods the matrix of tasks and
 * properties of each.
 */
public final class PropertiesSection {
  /** Columns of a table: the properties broken most often. */
  private static final int PROPERTIES = 16;

  /** Methods whose matrices are shown; those of more are in the JSON document. */
  private static final int MATRICES = 4;

  private PropertiesSection() {}

  /** For paper: the properties broken most often, and matrices of a few methods. */
  public static Section of(List<PropertyMatrix> unsorted, MethodNames names) {
    return of(unsorted, names, PROPERTIES, MATRICES);
  }

  /** With every property of every method and model. */
  public static Section whole(Collection<VerdictRow> rows) {
    List<PropertyMatrix> all = PropertyMatrix.of(rows);
    MethodNames names =
        new MethodNames(all.stream().map(PropertiesSection::maker).sorted().toList());
    return of(all, names, Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  private static Section of(
      List<PropertyMatrix> unsorted, MethodNames names, int properties, int matrices) {
    List<PropertyMatrix> all =
        unsorted.stream().sorted(Comparator.comparing(PropertiesSection::maker)).toList();
    Blocks blocks = new Blocks();
    if (!all.isEmpty()) blocks.add(totals(all, names));
    for (int i = 0; i < all.size() && all.size() <= matrices; i++) {
      PropertyMatrix matrix = all.get(i);
      blocks.add(
          table(
              matrix,
              Chunks.id("matrix", i, all.size()),
              names.of(matrix.method(), matrix.model()),
              properties));
    }
    return blocks.section("properties", "Where kernels hold");
  }

  private static MethodAndModel maker(PropertyMatrix matrix) {
    return new MethodAndModel(matrix.method(), matrix.model());
  }

  private static Table totals(List<PropertyMatrix> all, MethodNames names) {
    List<String> properties =
        all.stream().flatMap(each -> each.properties().stream()).distinct().sorted().toList();
    List<Column> columns = new ArrayList<>(List.of(Column.text("property")));
    for (PropertyMatrix each : all) {
      String name = names.of(each.method(), each.model());
      columns.add(all.size() > 4 ? Column.number(name).turned() : Column.number(name));
    }
    return new Table(
        "properties",
        "Candidates of all rounds that are right for calls with a property, of those that are right"
            + " at the published grade and were asked.",
        columns,
        properties.stream().map(property -> total(property, all)).toList());
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

  private static Table table(PropertyMatrix matrix, String id, String name, int most) {
    List<String> shown = Blocks.first(most, matrix.properties());
    List<Column> columns = new ArrayList<>(List.of(Column.text("task")));
    for (String property : shown) columns.add(Column.number(property).turned());
    List<List<Cell>> rows = new ArrayList<>();
    for (PropertyMatrix.Task task : matrix.tasks()) {
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
    if (asked == null) return Cell.missing();
    String held = asked.held() + "/" + (asked.held() + asked.broken());
    return Cell.label(held, asked.broken() == 0 ? Tone.GOOD : Tone.BAD);
  }
}
