package dev.kbx.analysis;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A run with what its suite says of the tasks.
 *
 * @param asked the tasks that it asked for
 * @param traits by path of the task; empty if the suite is missing or has changed since the run
 */
public record SelectedRun(JudgedRun judged, SelectedTasks asked, Map<String, TaskTraits> traits) {
  public SelectedRun {
    traits = Map.copyOf(traits);
  }

  /**
   * What a suite says of a task, by which tasks can be grouped in place of the category.
   *
   * @param operation the first of its operation tags
   * @param complexity cyclomatic complexity of the reference
   * @param lines code lines of the reference
   * @param bound what limits it by its tags: {@code memory} or {@code compute}
   */
  public record TaskTraits(
      @Nullable Integer difficulty,
      @Nullable String operation,
      @Nullable String bound,
      @Nullable String dtype,
      @Nullable Integer complexity,
      @Nullable Integer lines) {}
}
