package dev.kbx.analysis;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Which tasks who solves: one of a method's samples is correct. Only tasks for which each method
 * has a candidate.
 *
 * @param grouping {@code category}, or {@code operation} if the suite states it
 */
public record SolvedTasks(String grouping, List<Group> groups) {

  /**
   * Some tasks.
   *
   * @param all number of tasks that each method solves
   * @param several number of those that some do
   * @param one tasks that a single method solves
   * @param none paths of tasks that nobody solves
   */
  public record Group(
      String name, int tasks, int all, int several, List<OnlyOne> one, List<String> none) {}

  /** A task that a single method solves. */
  public record OnlyOne(String task, MethodAndModel maker) {}

  private record Task(VerdictRow any, Map<MethodAndModel, Boolean> solved) {}

  static List<SolvedTasks> of(Pool pool) {
    Map<String, Task> tasks = new TreeMap<>();
    for (VerdictRow row : pool.rows()) {
      tasks
          .computeIfAbsent(row.path(), _ -> new Task(row, new TreeMap<>()))
          .solved()
          .merge(MethodAndModel.of(row), Iterations.isCorrect(row), Boolean::logicalOr);
    }
    int makers = pool.entered().made().size();
    List<Task> common =
        tasks.values().stream().filter(task -> task.solved().size() == makers).toList();
    List<SolvedTasks> all = new ArrayList<>();
    all.add(grouped("category", common, VerdictRow::category));
    if (!pool.traits().isEmpty()) {
      all.add(grouped("operation", common, row -> operation(pool, row)));
    }
    return all;
  }

  private static @Nullable String operation(Pool pool, VerdictRow row) {
    SelectedRun.TaskTraits traits = pool.traits().get(row.path());
    return traits == null ? null : traits.operation();
  }

  private static SolvedTasks grouped(
      String grouping, List<Task> tasks, Function<VerdictRow, @Nullable String> key) {
    Map<String, List<Task>> groups = new TreeMap<>();
    for (Task task : tasks) {
      String name = key.apply(task.any());
      groups.computeIfAbsent(name == null ? "not stated" : name, _ -> new ArrayList<>()).add(task);
    }
    List<Group> all = new ArrayList<>();
    groups.forEach((name, own) -> all.add(group(name, own)));
    return new SolvedTasks(grouping, all);
  }

  private static Group group(String name, List<Task> tasks) {
    int all = 0;
    int several = 0;
    List<OnlyOne> one = new ArrayList<>();
    List<String> none = new ArrayList<>();
    for (Task task : tasks) {
      List<MethodAndModel> by =
          task.solved().entrySet().stream()
              .filter(Map.Entry::getValue)
              .map(Map.Entry::getKey)
              .toList();
      if (by.isEmpty()) none.add(task.any().path());
      else if (by.size() == task.solved().size()) all++;
      else if (by.size() == 1) one.add(new OnlyOne(task.any().path(), by.getFirst()));
      else several++;
    }
    return new Group(name, tasks.size(), all, several, one, none);
  }
}
