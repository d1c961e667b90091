package dev.kbx.cli;

import dev.kbx.analysis.AskedTasks;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.task.InvalidSuite;
import dev.kbx.task.Task;
import dev.kbx.task.UnknownTask;
import dev.kbx.verdict.RunInfo;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The tasks that a run asked for. The run states their number; names and categories come from the
 * suite, if it is here and unchanged.
 */
final class AskedSuite {
  private AskedSuite() {}

  static AskedTasks of(JudgedRun judged) {
    RunInfo run = judged.run();
    try {
      return of(judged, Home.suite(run.suite()).find(run.tasks()));
    } catch (InvalidSuite | UnknownTask _) {
      return AskedTasks.counted(judged);
    }
  }

  /**
   * The same for an opened suite.
   *
   * @param selected the tasks of the run's selection
   */
  static AskedTasks of(JudgedRun judged, List<Task> selected) {
    List<Task> published = selected.stream().filter(task -> !task.extra()).toList();
    if (published.size() != judged.run().suiteTasks() || !covers(selected, judged)) {
      return AskedTasks.counted(judged);
    }
    // Only variants were requested.
    return AskedTasks.named(byCategory(published.isEmpty() ? selected : published));
  }

  /** Whether all rows are on selected tasks: another suite of that name may have as many tasks. */
  private static boolean covers(List<Task> selected, JudgedRun judged) {
    Set<String> paths = selected.stream().map(Task::path).collect(Collectors.toSet());
    return judged.rows().stream().allMatch(row -> paths.contains(row.path()));
  }

  private static Map<String, Set<String>> byCategory(List<Task> tasks) {
    Map<String, Set<String>> names = new HashMap<>();
    for (Task task : tasks) {
      names.computeIfAbsent(task.category(), _ -> new HashSet<>()).add(task.name());
    }
    return names;
  }
}
