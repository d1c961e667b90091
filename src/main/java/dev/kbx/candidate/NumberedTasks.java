package dev.kbx.candidate;

import dev.kbx.task.BrokenTask;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunFile;
import dev.kbx.verdict.TaskNumber;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** The tasks of a suite that has levels, by KernelBench's numbers. */
final class NumberedTasks {
  private final Suite suite;
  private final TreeMap<TaskNumber, Task> tasks = new TreeMap<>();

  NumberedTasks(Suite suite) {
    this.suite = suite;
    for (Task task : suite.tasks()) {
      TaskNumber.of(task.category(), task.name()).ifPresent(n -> tasks.putIfAbsent(n, task));
    }
  }

  /** The task and sample that a kernel in a run folder is for. */
  TaskNames.Match of(RunFile file) {
    Task task = tasks.get(file.task());
    return task == null
        ? new TaskNames.Missing(missing(file.task()))
        : new TaskNames.Found(task, file.sample());
  }

  private String missing(TaskNumber wanted) {
    for (BrokenTask each : suite.broken()) {
      if (TaskNumber.of(each.category(), each.name()).equals(Optional.of(wanted))) {
        return suite.unknown(each.name());
      }
    }
    if (tasks.isEmpty()) {
      return "is for the suite kernelbench, and this run judges %s; give it --suite kernelbench"
          .formatted(suite.name());
    }
    List<Integer> numbers = numbers(wanted.level());
    if (numbers.isEmpty()) {
      return "suite %s has no level %d; it has %s"
          .formatted(suite.name(), wanted.level(), levels());
    }
    return "level %d of suite %s has no problem %d; it has %d to %d"
        .formatted(
            wanted.level(), suite.name(), wanted.number(), numbers.getFirst(), numbers.getLast());
  }

  private List<Integer> numbers(int level) {
    return tasks.keySet().stream()
        .filter(task -> task.level() == level)
        .map(TaskNumber::number)
        .toList();
  }

  private String levels() {
    List<String> levels =
        tasks.keySet().stream().map(TaskNumber::level).distinct().map(String::valueOf).toList();
    return String.join(", ", levels);
  }
}
