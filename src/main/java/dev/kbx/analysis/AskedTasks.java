package dev.kbx.analysis;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that a run asked for, which its rates are shares of.
 *
 * @param total how many, whether or not candidates were submitted for them
 * @param byCategory their names; empty where the suite is not here as the run met it
 */
public record AskedTasks(int total, Map<String, Set<String>> byCategory) {
  public AskedTasks {
    byCategory = Map.copyOf(byCategory);
  }

  /** Tasks by name. */
  public static AskedTasks named(Map<String, Set<String>> byCategory) {
    return new AskedTasks(byCategory.values().stream().mapToInt(Set::size).sum(), byCategory);
  }

  /** As many as the run says, or has candidates for; how many a category has is not known. */
  public static AskedTasks counted(JudgedRun run) {
    long tried = Tally.tasksOf(run.rows(), _ -> true);
    return new AskedTasks(
        Math.max(run.run().suiteTasks(), Math.toIntExact(tried)), Collections.emptyMap());
  }

  /** Whether the row is of one of them, and not of a variant outside the published tasks. */
  boolean has(VerdictRow row) {
    return byCategory.isEmpty()
        || byCategory.getOrDefault(row.category(), Set.of()).contains(row.task());
  }

  /** How many are in the category; null where that is not known. */
  @Nullable Integer in(String category) {
    return byCategory.isEmpty() ? null : byCategory.getOrDefault(category, Set.of()).size();
  }

  /** All categories there are, with those that rows name. */
  SortedSet<String> categories(Iterable<VerdictRow> rows) {
    SortedSet<String> all = new TreeSet<>(byCategory.keySet());
    rows.forEach(row -> all.add(row.category()));
    return all;
  }
}
