package dev.kbx.task;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** A benchmark: its tasks in the order of their paths, and the task files that cannot be used. */
public final class Suite {
  private final String name;
  private final Path root;
  private final List<Task> tasks;
  private final List<BrokenTask> broken;
  private final OtherSuites others;

  /**
   * @param name {@code kernelbenchx}, or the folder's name
   */
  public Suite(String name, Path root, List<Task> tasks, List<BrokenTask> broken) {
    this(name, root, tasks, broken, new OtherSuites(null, name));
  }

  /**
   * @param others named where they have a task that this one lacks
   */
  Suite(String name, Path root, List<Task> tasks, List<BrokenTask> broken, OtherSuites others) {
    this.name = name;
    this.root = root;
    this.tasks = List.copyOf(tasks);
    this.broken = List.copyOf(broken);
    this.others = others;
  }

  /** {@code kernelbenchx}, or the folder's name. */
  public String name() {
    return name;
  }

  public Path root() {
    return root;
  }

  public List<Task> tasks() {
    return tasks;
  }

  public List<BrokenTask> broken() {
    return broken;
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
      Predicate<String> wanted = matches(item);
      List<Task> matching = tasks.stream().filter(task -> wanted.test(task.path())).toList();
      if (matching.isEmpty()) throw new UnknownTask(unknown(item));
      found.addAll(matching);
    }
    return tasks.stream().filter(found::contains).toList();
  }

  /**
   * One line about a name that is no task's: why its file cannot be used, which other suite has it,
   * or names that are close.
   */
  public String unknown(String wanted) {
    for (BrokenTask each : broken) {
      if (each.name().equals(lastSegment(wanted))) {
        return "task '" + wanted + "' cannot be used: " + each;
      }
    }
    if (tasks.isEmpty() && !broken.isEmpty()) return noneUsable();
    return "no task '" + wanted + "' in suite " + name + "; " + help(wanted);
  }

  private String noneUsable() {
    return "%s: holds no task files: none of its .py files (%d) is one, as %s"
        .formatted(root, broken.size(), broken.getFirst());
  }

  private String help(String wanted) {
    Optional<String> other = others.having(matches(wanted));
    if (other.isPresent()) {
      return "it is one of suite %s: give --suite %s".formatted(other.get(), other.get());
    }
    List<String> close = suggestions(wanted);
    return close.isEmpty()
        ? "`kbx tasks list` shows all"
        : "did you mean " + String.join(" or ", close) + "?";
  }

  private List<String> suggestions(String wanted) {
    String plain = wanted.endsWith("/") ? wanted.substring(0, wanted.length() - 1) : wanted;
    for (Task task : tasks) {
      if (task.category().equalsIgnoreCase(plain)) return List.of(task.category() + "/*");
    }
    return Spelling.close(lastSegment(wanted), tasks.stream().map(Task::name).toList());
  }

  private static String lastSegment(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** Whether a {@code Category/name}, or the name alone, is what an item means. */
  private static Predicate<String> matches(String item) {
    Pattern glob = glob(item);
    return path -> glob.matcher(lastSegment(path)).matches() || glob.matcher(path).matches();
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
