package dev.kbx.candidate;

import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunFile;
import dev.kbx.verdict.TaskNumber;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Finds the tasks of Python files by their names and folders. */
public final class FileTasks {
  private final Map<Path, Task> tasks = new HashMap<>();
  private final List<Problem> problems;

  /** Looks for the files' tasks in a suite, which may be restricted to {@link #names}. */
  public FileTasks(Collection<Path> files, Suite suite) {
    TaskNames names = new TaskNames(suite);
    Misdirected misdirected = new Misdirected(suite.name());
    List<Problem> missing = new ArrayList<>();
    for (Path file : files) {
      switch (names.ofFile(file.toAbsolutePath().toString())) {
        case TaskNames.Found(Task task, _) -> tasks.put(file, task);
        case TaskNames.OfSuite(String other) -> misdirected.add(file.toString(), null, other);
        case TaskNames.Missing(String reason) -> {
          if (TaskNames.isLikeRunFile(name(file))) {
            missing.add(new Problem(file.toString(), null, reason));
          }
        }
      }
    }
    problems = misdirected.problems();
    problems.addAll(missing);
  }

  /** The task of a file; empty if its name matches none. */
  public Optional<Task> of(Path file) {
    return Optional.ofNullable(tasks.get(file));
  }

  /**
   * Problems with files that are named as in a run folder and have no task; other names need no
   * task.
   */
  public List<Problem> problems() {
    return List.copyOf(problems);
  }

  /** Matches the names of tasks that one of the files may be for. */
  public static Predicate<String> names(Collection<Path> files) {
    Set<String> names = new HashSet<>();
    Set<Integer> numbers = new HashSet<>();
    for (Path file : files) {
      String name = name(file);
      names.add(name.endsWith(".py") ? name.substring(0, name.length() - ".py".length()) : name);
      RunFile.parse(name).ifPresent(kernel -> numbers.add(kernel.task().number()));
    }
    return task ->
        names.contains(task) || TaskNumber.leading(task).filter(numbers::contains).isPresent();
  }

  private static String name(Path file) {
    return file.getFileName().toString();
  }
}
