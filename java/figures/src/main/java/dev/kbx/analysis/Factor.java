package dev.kbx.analysis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A property of candidates, by which their outcomes may differ, as a column of levels. */
final class Factor {
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
    of(pool).forEach(factor -> names.remove(factor.name()));
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
    String[] values = new String[rows.size()];
    Arrays.setAll(
        values,
        i -> {
          String own = value.apply(rows.get(i));
          return own == null ? UNSTATED : own;
        });
    List<String> levels = Arrays.stream(values).distinct().sorted().toList();
    Map<String, Integer> numbers = new HashMap<>();
    for (String level : levels) numbers.put(level, numbers.size());
    int[] column = Arrays.stream(values).mapToInt(numbers::get).toArray();
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
