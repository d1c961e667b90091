package dev.kbx.analysis;

import java.util.Map;

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
}
