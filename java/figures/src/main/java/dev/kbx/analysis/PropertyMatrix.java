package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Where kernels hold: tasks against the properties of calls beyond the published grade, for the
 * candidates of one method and model that are right at the published grade.
 *
 * @param method null where the sources do not say it, as is {@code model}
 * @param properties that were asked for, the most often broken first
 * @param tasks in the order of their paths
 */
@JsonInclude
public record PropertyMatrix(
    @Nullable String method, @Nullable String model, List<String> properties, List<Task> tasks) {

  /**
   * One task.
   *
   * @param cells by property; a property that no candidate was asked for is absent
   */
  public record Task(String path, Map<String, Cell> cells) {}

  /** How many of a task's candidates hold for a property, and how many break on it. */
  public record Cell(int held, int broken) {
    private static final Cell NONE = new Cell(0, 0);

    private Cell more(boolean holds) {
      return holds ? new Cell(held + 1, broken) : new Cell(held, broken + 1);
    }
  }

  private record Key(@Nullable String method, @Nullable String model) {}

  /** One matrix for each method and model, in the order in which they appear. */
  public static List<PropertyMatrix> of(Collection<VerdictRow> rows) {
    Map<Key, List<VerdictRow>> groups = new LinkedHashMap<>();
    for (VerdictRow row : rows) {
      if (!Objects.equals(row.publishedOk(), true)) continue;
      if (row.holds().isEmpty() && row.breaks().isEmpty()) continue;
      groups.computeIfAbsent(new Key(row.method(), row.model()), _ -> new ArrayList<>()).add(row);
    }
    return groups.entrySet().stream().map(e -> of(e.getKey(), e.getValue())).toList();
  }

  private static PropertyMatrix of(Key key, List<VerdictRow> rows) {
    Map<String, Map<String, Cell>> tasks = new TreeMap<>();
    Map<String, Integer> broken = new TreeMap<>();
    for (VerdictRow row : rows) {
      Map<String, Cell> cells = tasks.computeIfAbsent(row.path(), _ -> new TreeMap<>());
      for (String property : row.holds()) {
        add(cells, property, true);
        broken.putIfAbsent(property, 0);
      }
      for (String property : row.breaks()) {
        add(cells, property, false);
        broken.merge(property, 1, Integer::sum);
      }
    }
    List<String> properties =
        broken.keySet().stream()
            .sorted(Comparator.comparingInt(property -> -broken.getOrDefault(property, 0)))
            .toList();
    return new PropertyMatrix(
        key.method(),
        key.model(),
        properties,
        tasks.entrySet().stream().map(e -> new Task(e.getKey(), e.getValue())).toList());
  }

  private static void add(Map<String, Cell> cells, String property, boolean holds) {
    cells.put(property, cells.getOrDefault(property, Cell.NONE).more(holds));
  }
}
