package dev.kbx.cli;

import dev.kbx.task.Task;
import java.util.List;
import java.util.function.Function;

/**
 * Tasks as lines in columns: category, name where the signature does not begin with it, signature.
 * On a terminal lines are cut to its width, and names to three fifths of it.
 */
final class TaskTable {
  private TaskTable() {}

  static List<String> lines(List<Task> tasks) {
    int columns = Terminal.shown() ? Terminal.columns() : Integer.MAX_VALUE;
    int category = longest(tasks, Task::category);
    int name = Math.min(longest(tasks, TaskTable::name), columns / 5 * 3);
    return tasks.stream()
        .map(task -> {
          String shown = cut(name(task), name);
          String what = shown.isEmpty() ? task.signature() : padded(shown, name) + task.signature();
          return cut(padded(task.category(), category) + what, columns);
        })
        .toList();
  }

  /** The task's name; empty if the signature begins with it. */
  private static String name(Task task) {
    return task.signature().startsWith(task.name() + "(") ? "" : task.name();
  }

  private static int longest(List<Task> tasks, Function<Task, String> cell) {
    return tasks.stream().map(cell).mapToInt(String::length).max().orElse(0);
  }

  private static String padded(String text, int width) {
    return text + " ".repeat(width - text.length() + 2);
  }

  private static String cut(String text, int width) {
    return text.length() <= width ? text : text.substring(0, width - 1) + "…";
  }
}
