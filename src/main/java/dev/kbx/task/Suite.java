package dev.kbx.task;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A benchmark: its tasks in the order of their paths, and the task files that cannot be used.
 *
 * @param name {@code kernelbenchx}, or the folder's name
 */
public record Suite(String name, Path root, List<Task> tasks, List<BrokenTask> broken) {
  public Suite {
    tasks = List.copyOf(tasks);
    broken = List.copyOf(broken);
  }

  /**
   * The tasks of a comma-separated selection, each once, in the suite's order. An item is a name, a
   * {@code Category/name}, or a glob ({@code *}, {@code ?}) over either.
   *
   * @throws UnknownTask if an item matches nothing
   */
  public List<Task> find(String selection) {
    Set<Task> found = new LinkedHashSet<>();
    List<String> items =
        Arrays.stream(selection.split(",")).map(String::strip).filter(i -> !i.isEmpty()).toList();
    if (items.isEmpty()) throw new UnknownTask("no task is selected by '" + selection + "'");
    for (String item : items) {
      List<Task> matching = tasks.stream().filter(matches(item)).toList();
      if (matching.isEmpty()) throw new UnknownTask(unknown(item));
      found.addAll(matching);
    }
    return tasks.stream().filter(found::contains).toList();
  }

  /**
   * One line about a name that is no task's: why its file cannot be used, or names that are close.
   */
  public String unknown(String wanted) {
    for (BrokenTask each : broken) {
      if (each.name().equals(lastSegment(wanted))) {
        return "task '" + wanted + "' cannot be used: " + each;
      }
    }
    List<String> close = suggestions(wanted);
    return "no task '"
        + wanted
        + "' in suite "
        + name
        + (close.isEmpty()
            ? "; `kbx tasks list` shows all"
            : "; did you mean " + String.join(" or ", close) + "?");
  }

  private List<String> suggestions(String wanted) {
    return Spelling.close(lastSegment(wanted), tasks.stream().map(Task::name).toList());
  }

  private static String lastSegment(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  private static Predicate<Task> matches(String item) {
    Pattern glob = glob(item);
    return task -> glob.matcher(task.name()).matches() || glob.matcher(task.path()).matches();
  }

  private static Pattern glob(String item) {
    StringBuilder regex = new StringBuilder();
    for (int i = 0; i < item.length(); i++) {
      switch (item.charAt(i)) {
        case '*' -> regex.append(".*");
        case '?' -> regex.append('.');
        default -> regex.append(Pattern.quote(item.substring(i, i + 1)));
      }
    }
    return Pattern.compile(regex.toString(), Pattern.DOTALL);
  }
}
