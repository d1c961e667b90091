package dev.kbx.analysis;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that a run asked for: what coverage is of. Rates are of those that were tried.
 *
 * @param total number of tasks, with and without candidates
 * @param byCategory names by category; empty if the suite is missing or has changed since the run
 */
public record SelectedTasks(int total, Map<String, Set<String>> byCategory) {
  public SelectedTasks {
    byCategory = Map.copyOf(byCategory);
  }

  /** Tasks by name. */
  public static SelectedTasks named(Map<String, Set<String>> byCategory) {
    return new SelectedTasks(byCategory.values().stream().mapToInt(Set::size).sum(), byCategory);
  }

  /**
   * The tasks that the run states, or has candidates for, by number; counts by category are
   * unknown.
   */
  public static SelectedTasks counted(JudgedRun run) {
    long tried = Tally.tasksOf(run.rows(), _ -> true);
    return new SelectedTasks(
        Math.max(run.run().suiteTasks(), Math.toIntExact(tried)), Collections.emptyMap());
  }

  /** Whether the row belongs to one of them; false for variants of published tasks. */
  boolean has(VerdictRow row) {
    return byCategory.isEmpty()
        || byCategory.getOrDefault(row.category(), Set.of()).contains(row.task());
  }

  /** Number of tasks in the category; null if unknown. */
  @Nullable Integer in(String category) {
    return byCategory.isEmpty() ? null : byCategory.getOrDefault(category, Set.of()).size();
  }

  /** All categories of the suite and of the rows. */
  SortedSet<String> categories(Iterable<VerdictRow> rows) {
    SortedSet<String> all = new TreeSet<>(byCategory.keySet());
    rows.forEach(row -> all.add(row.category()));
    return all;
  }
}
