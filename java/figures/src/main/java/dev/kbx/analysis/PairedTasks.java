package dev.kbx.analysis;

import dev.kbx.stats.Holm;
import dev.kbx.stats.McNemar;
import dev.kbx.stats.PairedShares;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Two sides on the tasks that both have samples of, by the share of a task's samples that pass. A
 * task counts once, however many samples it has.
 *
 * @param tasks number of them: the sum of the next four
 * @param firstAhead tasks of which the first passes the larger share
 * @param secondAhead the same, the second
 * @param alike tasks of which both pass the same share, but not none
 * @param neither tasks of which neither passes any
 * @param difference mean over the tasks of the second's share less the first's; null without tasks
 * @param pValue of {@link PairedShares}, two-sided
 * @param error standard error of p where it is of random permutations; null where it is exact
 * @param mcnemar odds ratio and test; null if a task has several samples of one side
 */
public record PairedTasks(
    int tasks,
    int firstAhead,
    int secondAhead,
    int alike,
    int neither,
    @Nullable Double difference,
    double pValue,
    @Nullable Double error,
    TaskOutcomes.@Nullable Test mcnemar) {

  /** Passes of the samples of one task. */
  private record Tries(String category, int passes, int samples) {}

  /** One side: the samples of each task, those of an unknown outcome apart. */
  static final class Side {
    private final Map<String, Tries> tasks;

    private Side(Map<String, Tries> tasks) {
      this.tasks = tasks;
    }

    /** The tasks whose samples all have a known outcome: a share of others is not known. */
    static Side of(List<VerdictRow> rows, Outcome outcome) {
      Map<String, List<VerdictRow>> byTask = new LinkedHashMap<>();
      for (VerdictRow row : rows) {
        byTask.computeIfAbsent(row.path(), _ -> new ArrayList<>()).add(row);
      }
      Map<String, Tries> tasks = new LinkedHashMap<>();
      byTask.forEach((path, samples) -> {
        if (samples.stream().anyMatch(row -> outcome.of(row) == null)) return;
        int passes =
            (int) samples.stream().filter(row -> Objects.equals(outcome.of(row), true)).count();
        tasks.put(path, new Tries(samples.getFirst().category(), passes, samples.size()));
      });
      return new Side(tasks);
    }

    /**
     * Counted tries.
     *
     * @param counts samples and passes of each task, by path
     */
    static Side of(Map<String, int[]> counts) {
      Map<String, Tries> tasks = new LinkedHashMap<>();
      counts.forEach((path, count) -> tasks.put(path, new Tries("", count[1], count[0])));
      return new Side(tasks);
    }

    /** Number of the tasks. */
    int tasks() {
      return tasks.size();
    }

    /** Sum over the tasks of the share of their samples that pass. */
    double solved() {
      return tasks.values().stream()
          .mapToDouble(each -> (double) each.passes() / each.samples())
          .sum();
    }

    /** The share of the tasks, of which there is one at least. */
    TaskShare share() {
      return TaskShare.of(
          tasks.values().stream().map(each -> new int[] {each.samples(), each.passes()}).toList());
    }

    /** Names of the categories of the tasks that both have. */
    List<String> categories(Side other) {
      return tasks.entrySet().stream()
          .filter(task -> other.tasks.containsKey(task.getKey()))
          .map(task -> task.getValue().category())
          .distinct()
          .sorted()
          .toList();
    }
  }

  static PairedTasks of(Side first, Side second) {
    return of(first, second, _ -> true);
  }

  /** On the tasks of one category. */
  static PairedTasks of(Side first, Side second, String category) {
    return of(first, second, tries -> tries.category().equals(category));
  }

  private static PairedTasks of(Side first, Side second, Predicate<Tries> wanted) {
    List<PairedShares.Task> tasks = new ArrayList<>();
    first.tasks.forEach((path, one) -> {
      Tries two = second.tasks.get(path);
      if (two == null || !wanted.test(one)) return;
      tasks.add(new PairedShares.Task(one.passes(), one.samples(), two.passes(), two.samples()));
    });
    return of(tasks);
  }

  static PairedTasks of(List<PairedShares.Task> tasks) {
    int firstAhead = count(tasks, task -> task.difference() < 0);
    int secondAhead = count(tasks, task -> task.difference() > 0);
    int neither = count(tasks, task -> task.firstPasses() + task.secondPasses() == 0);
    PairedShares test = PairedShares.of(tasks);
    boolean single = count(tasks, task -> task.firstSamples() + task.secondSamples() > 2) == 0;
    return new PairedTasks(
        tasks.size(),
        firstAhead,
        secondAhead,
        tasks.size() - firstAhead - secondAhead - neither,
        neither,
        tasks.isEmpty()
            ? null
            : tasks.stream().mapToDouble(PairedShares.Task::difference).average().orElseThrow(),
        test.pValue(),
        test.error(),
        single ? TaskOutcomes.Test.of(new McNemar(firstAhead, secondAhead)) : null);
  }

  private static int count(List<PairedShares.Task> tasks, Predicate<PairedShares.Task> wanted) {
    return (int) tasks.stream().filter(wanted).count();
  }

  /** Whether some task tells the two apart; otherwise nothing is tested. */
  private boolean differs() {
    return firstAhead + secondAhead > 0;
  }

  /**
   * p of each test, corrected for all of them by {@link Holm}. One without a task that differs can
   * only have a p of 1, so that it is none of them.
   */
  static Map<PairedTasks, Double> corrected(Collection<PairedTasks> all) {
    List<PairedTasks> tests = all.stream().filter(PairedTasks::differs).toList();
    double[] holm = Holm.adjust(tests.stream().mapToDouble(PairedTasks::pValue).toArray());
    Map<PairedTasks, Double> corrected = new HashMap<>();
    for (PairedTasks each : all) corrected.put(each, 1.0);
    // Equal tests have equal corrected values.
    for (int i = 0; i < holm.length; i++) corrected.put(tests.get(i), holm[i]);
    return corrected;
  }
}
