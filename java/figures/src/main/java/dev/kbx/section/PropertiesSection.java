package dev.kbx.section;

import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.PropertyMatrix;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Cell;
import dev.kbx.document.Cell.Tone;
import dev.kbx.document.Column;
import dev.kbx.document.Section;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

/**
 * Where kernels break that are right at the published grade: properties of calls, and tasks with
 * the properties that they break on, with a column for each method and model. What holds everywhere
 * is counted, not listed.
 */
public final class PropertiesSection {
  /** Rows of a table: those broken most often. */
  private static final int ROWS = 40;

  /** More names than these are turned. */
  private static final int UPRIGHT = 4;

  private final List<PropertyMatrix> all;
  private final MethodNames names;

  private PropertiesSection(List<PropertyMatrix> unsorted, MethodNames names) {
    this.names = names;
    all = unsorted.stream().sorted(Comparator.comparing(PropertiesSection::maker)).toList();
  }

  /** Of these methods and models; without blocks where nothing was asked. */
  public static Section of(List<PropertyMatrix> unsorted, MethodNames names) {
    return new PropertiesSection(unsorted, names).section();
  }

  /** The same of all rows. */
  public static Section of(Collection<VerdictRow> rows) {
    List<PropertyMatrix> all = PropertyMatrix.of(rows);
    return of(all, new MethodNames(all.stream().map(PropertiesSection::maker).sorted().toList()));
  }

  private static MethodAndModel maker(PropertyMatrix matrix) {
    return new MethodAndModel(matrix.method(), matrix.model());
  }

  /** How often calls with a property were right, of how many asked; of one task, or of all. */
  private record Row(String task, String property, List<PropertyMatrix.Cell> cells) {
    int broken() {
      return cells.stream().mapToInt(PropertyMatrix.Cell::broken).sum();
    }
  }

  private Section section() {
    Blocks blocks = new Blocks();
    List<String> properties =
        all.stream().flatMap(each -> each.properties().stream()).distinct().sorted().toList();
    if (properties.isEmpty()) return blocks.section("properties", "Where kernels break");
    List<Row> totals =
        broken(
            properties.stream().map(property -> new Row("", property, total(property))).toList());
    int whole = properties.size() - totals.size();
    if (whole > 0) {
      blocks.note(
          "%d of %d properties of calls that were asked for hold for all kernels right at the"
              + " published grade.",
          whole, properties.size());
    }
    blocks.first(
        ROWS,
        "properties",
        "Properties of calls on which kernels of all rounds break: how many are right for such"
            + " calls, of those right at the published grade that were asked.",
        columns(List.of(Column.text("breaks on", Row::property))),
        totals);
    blocks.first(
        ROWS,
        "matrix",
        "The same by task.",
        columns(List.of(Column.text("task", Row::task), Column.text("breaks on", Row::property))),
        broken(
            all.stream()
                .flatMap(each -> each.tasks().stream())
                .map(PropertyMatrix.Task::path)
                .distinct()
                .sorted()
                .flatMap(task -> properties.stream().map(each -> ofTask(task, each)))
                .toList()));
    return blocks.section("properties", "Where kernels break");
  }

  private static List<Row> broken(List<Row> rows) {
    return rows.stream()
        .filter(row -> row.broken() > 0)
        .sorted(Comparator.comparingInt(Row::broken).reversed())
        .toList();
  }

  private List<PropertyMatrix.Cell> total(String property) {
    return counts(property, PropertyMatrix::tasks);
  }

  private Row ofTask(String path, String property) {
    return new Row(
        path,
        property,
        counts(
            property,
            matrix -> matrix.tasks().stream().filter(task -> task.path().equals(path)).toList()));
  }

  private List<PropertyMatrix.Cell> counts(
      String property, Function<PropertyMatrix, List<PropertyMatrix.Task>> tasks) {
    List<PropertyMatrix.Cell> counts = new ArrayList<>();
    for (PropertyMatrix matrix : all) {
      int held = 0;
      int broken = 0;
      for (PropertyMatrix.Task task : tasks.apply(matrix)) {
        PropertyMatrix.Cell own = task.cells().get(property);
        if (own == null) continue;
        held += own.held();
        broken += own.broken();
      }
      counts.add(new PropertyMatrix.Cell(held, broken));
    }
    return counts;
  }

  private List<Column.Of<Row>> columns(List<Column.Of<Row>> rows) {
    List<Column.Of<Row>> columns = new ArrayList<>(rows);
    for (int i = 0; i < all.size(); i++) {
      int index = i;
      String name = names.of(maker(all.get(i)));
      Column column = Column.number(name);
      columns.add(
          new Column.Of<>(
              all.size() > UPRIGHT ? column.turned() : column,
              row -> cell(row.cells().get(index))));
    }
    return columns;
  }

  private static Cell cell(PropertyMatrix.Cell count) {
    int asked = count.held() + count.broken();
    if (asked == 0) return Cell.missing();
    return Cell.label(count.held() + "/" + asked, count.broken() == 0 ? Tone.GOOD : Tone.BAD);
  }
}
