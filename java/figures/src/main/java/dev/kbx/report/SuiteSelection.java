package dev.kbx.report;

import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.SelectedRun;
import dev.kbx.analysis.SelectedTasks;
import dev.kbx.syntax.CodeSize;
import dev.kbx.task.Task;
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
public final class SuiteSelection {
  private static final List<String> BOUNDS = List.of("memory-bound", "compute-bound");

  private SuiteSelection() {}

  /**
   * What the suite says of the tasks, by path; empty if it has changed.
   *
   * @param selected the tasks of the run's selection; empty if its suite is missing
   */
  public static Map<String, SelectedRun.TaskTraits> traits(JudgedRun judged, List<Task> selected) {
    return covers(selected, judged)
        ? selected.stream().collect(Collectors.toMap(Task::path, SuiteSelection::traits))
        : Map.of();
  }

  private static SelectedRun.TaskTraits traits(Task task) {
    String bound =
        BOUNDS.stream()
            .filter(task.tags()::contains)
            .map(tag -> tag.replace("-bound", ""))
            .findFirst()
            .orElse(null);
    String operation =
        task.tags().stream().filter(tag -> !BOUNDS.contains(tag)).findFirst().orElse(null);
    CodeSize size = task.size();
    return new SelectedRun.TaskTraits(
        task.difficulty(),
        operation,
        bound,
        task.dtype(),
        size == null ? null : (Integer) size.complexity(),
        size == null ? null : (Integer) size.lines());
  }

  /**
   * The tasks by name, or their number alone.
   *
   * @param selected the tasks of the run's selection; empty if its suite is missing
   */
  public static SelectedTasks of(JudgedRun judged, List<Task> selected) {
    List<Task> published = selected.stream().filter(task -> !task.extra()).toList();
    if (published.size() != judged.run().suiteTasks() || !covers(selected, judged)) {
      return SelectedTasks.counted(judged);
    }
    // Only variants were requested.
    return SelectedTasks.named(byCategory(published.isEmpty() ? selected : published));
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
