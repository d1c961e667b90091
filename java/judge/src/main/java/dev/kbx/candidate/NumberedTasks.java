package dev.kbx.candidate;

import static java.util.stream.Collectors.joining;

import dev.kbx.task.BrokenTask;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunFile;
import dev.kbx.verdict.TaskNumber;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The tasks of a suite with levels, by KernelBench's numbers. */
final class NumberedTasks {
  private static final int MOST_LISTED = 6;

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
    return of(file.task(), file.sample());
  }

  /** The task of that number, with the sample number of the candidate, if stated. */
  TaskNames.Match of(TaskNumber number, @Nullable Integer sample) {
    Task task = tasks.get(number);
    return task == null ? without(number) : new TaskNames.Found(task, sample);
  }

  /** Whether the suite has no levels. */
  boolean none() {
    return tasks.isEmpty();
  }

  private TaskNames.Match without(TaskNumber wanted) {
    for (BrokenTask each : suite.broken()) {
      if (TaskNumber.of(each.category(), each.name()).equals(Optional.of(wanted))) {
        return new TaskNames.Missing(suite.unknown(each.name()));
      }
    }
    return none() ? new TaskNames.OfSuite("kernelbench") : new TaskNames.Missing(missing(wanted));
  }

  private String missing(TaskNumber wanted) {
    List<Integer> numbers = numbers(wanted.level());
    if (numbers.isEmpty()) {
      return "suite %s has no level %d; it has %s"
          .formatted(suite.name(), wanted.level(), levels());
    }
    return "level %d of suite %s has no problem %d; it has %s"
        .formatted(wanted.level(), suite.name(), wanted.number(), described(numbers));
  }

  private static String described(List<Integer> numbers) {
    int first = numbers.getFirst();
    int last = numbers.getLast();
    if (numbers.size() <= MOST_LISTED) {
      String most =
          numbers.stream().limit(numbers.size() - 1).map(String::valueOf).collect(joining(", "));
      return most.isEmpty() ? String.valueOf(last) : most + " and " + last;
    }
    return last - first + 1 == numbers.size()
        ? "%d to %d".formatted(first, last)
        : "%d, between %d and %d".formatted(numbers.size(), first, last);
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
