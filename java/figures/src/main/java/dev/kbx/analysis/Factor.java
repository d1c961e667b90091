package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A property of candidates, by which their outcomes may differ, as a column of levels. */
final class Factor {
  /** Those of {@link #of(Pool)}. */
  private static final Set<String> USUAL =
      Set.of("category", "difficulty", "operation", "bound", "dtype", "method", "model", "device");

  /** The level of rows that do not state it. */
  private static final String UNSTATED = "not stated";

  private final String name;
  private final boolean ofTasks;
  private final List<String> levels;
  private final int[] column;

  private Factor(String name, boolean ofTasks, List<String> levels, int[] column) {
    this.name = name;
    this.ofTasks = ofTasks;
    this.levels = levels;
    this.column = column;
  }

  /** All that are known of the rows, those of tasks first; also those with one level. */
  static List<Factor> of(Pool pool) {
    List<VerdictRow> rows = pool.rows();
    List<Factor> all = new ArrayList<>();
    all.add(of("category", true, rows, VerdictRow::category));
    all.add(trait("difficulty", pool, SelectedRun.TaskTraits::difficulty));
    all.add(trait("operation", pool, SelectedRun.TaskTraits::operation));
    all.add(trait("bound", pool, SelectedRun.TaskTraits::bound));
    all.add(trait("dtype", pool, SelectedRun.TaskTraits::dtype));
    all.add(of("method", false, rows, VerdictRow::method));
    all.add(of("model", false, rows, VerdictRow::model));
    all.add(of("device", false, rows, row -> row.device().name()));
    return all;
  }

  /** Conditions that candidates were generated under, by name; those of no other factor's name. */
  static List<Factor> conditions(Pool pool) {
    Set<String> names = new TreeSet<>();
    pool.rows().stream()
        .map(VerdictRow::conditions)
        .distinct()
        .forEach(stated -> names.addAll(stated.keySet()));
    names.removeAll(USUAL);
    return names.stream()
        .map(name -> of(name, false, pool.rows(), row -> row.conditions().get(name)))
        .toList();
  }

  private static Factor trait(
      String name, Pool pool, Function<SelectedRun.TaskTraits, @Nullable Object> trait) {
    return of(
        name,
        true,
        pool.rows(),
        row -> {
          SelectedRun.TaskTraits traits = pool.traits().get(row.path());
          Object value = traits == null ? null : trait.apply(traits);
          return value == null ? null : value.toString();
        });
  }

  static Factor of(
      String name,
      boolean ofTasks,
      List<VerdictRow> rows,
      Function<VerdictRow, @Nullable String> value) {
    Map<String, Integer> seen = new HashMap<>();
    int[] column = new int[rows.size()];
    for (int i = 0; i < column.length; i++) {
      String own = value.apply(rows.get(i));
      column[i] = seen.computeIfAbsent(own == null ? UNSTATED : own, _ -> seen.size());
    }
    List<String> levels = seen.keySet().stream().sorted().toList();
    int[] places = new int[levels.size()];
    for (int place = 0; place < places.length; place++) {
      places[requireNonNull(seen.get(levels.get(place)))] = place;
    }
    for (int i = 0; i < column.length; i++) column[i] = places[column[i]];
    return new Factor(name, ofTasks, levels, column);
  }

  String name() {
    return name;
  }

  /** Whether all rows of a task have the same level. */
  boolean ofTasks() {
    return ofTasks;
  }

  /** Whether rows differ in it. */
  boolean varies() {
    return levels.size() > 1;
  }

  /** Whether any row states it. */
  boolean isStated() {
    return varies() || !levels.equals(List.of(UNSTATED));
  }

  List<String> levels() {
    return levels;
  }

  /** Level of a row. */
  int level(int row) {
    return column[row];
  }
}
