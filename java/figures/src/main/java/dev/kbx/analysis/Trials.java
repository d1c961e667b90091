package dev.kbx.analysis;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rows with a known outcome, and their tasks and strata, as columns. */
final class Trials {
  private final int[] rows;
  private final boolean[] passes;
  private final int[] tasks;
  private final int[] strata;
  private final int passing;

  private Trials(int[] rows, boolean[] passes, int[] tasks, int[] strata, int passing) {
    this.rows = rows;
    this.passes = passes;
    this.tasks = tasks;
    this.strata = strata;
    this.passing = passing;
  }

  /** The rows whose outcome is known; all are of one suite. */
  static Trials of(List<VerdictRow> all, Outcome outcome) {
    int[] rows = new int[all.size()];
    boolean[] passes = new boolean[all.size()];
    int[] tasks = new int[all.size()];
    Map<String, Integer> numbers = new HashMap<>();
    Map<String, Integer> categories = new HashMap<>();
    Map<Integer, Integer> strata = new HashMap<>();
    int count = 0;
    int passing = 0;
    for (int i = 0; i < all.size(); i++) {
      VerdictRow row = all.get(i);
      @Nullable Boolean known = outcome.of(row);
      if (known == null) continue;
      int task = numbers.computeIfAbsent(row.path(), _ -> numbers.size());
      strata.put(task, categories.computeIfAbsent(row.category(), _ -> categories.size()));
      rows[count] = i;
      passes[count] = known;
      tasks[count++] = task;
      if (known) passing++;
    }
    int[] stratumOf = new int[numbers.size()];
    strata.forEach((task, stratum) -> stratumOf[task] = stratum);
    return new Trials(
        Arrays.copyOf(rows, count),
        Arrays.copyOf(passes, count),
        Arrays.copyOf(tasks, count),
        stratumOf,
        passing);
  }

  int count() {
    return rows.length;
  }

  int passing() {
    return passing;
  }

  /** Index of the row of a trial. */
  int row(int trial) {
    return rows[trial];
  }

  boolean passes(int trial) {
    return passes[trial];
  }

  /** Task of a trial, from 0. */
  int task(int trial) {
    return tasks[trial];
  }

  int taskCount() {
    return strata.length;
  }

  /** Category of each task, as a number. */
  int[] strata() {
    return strata.clone();
  }
}
