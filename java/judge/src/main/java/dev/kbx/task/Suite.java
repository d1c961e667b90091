package dev.kbx.task;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;

/** A benchmark: its tasks in the order of their paths, and the task files that cannot be used. */
public final class Suite {
  private static final Pattern NUMBER = Pattern.compile("\\d{1,9}");

  private final String name;
  private final Path root;
  private final List<Task> tasks;
  private final List<BrokenTask> broken;
  private final String asked;
  private final Others others;
  private final List<Lacking> without;
  private final Map<String, Task> byPath = new HashMap<>();
  private final Map<String, List<Task>> byName = new HashMap<>();

  /**
   * @param name {@code kernelbenchx}, or the folder's name
   */
  public Suite(String name, Path root, List<Task> tasks, List<BrokenTask> broken) {
    this(name, root, tasks, broken, name, new Others(null, name), List.of());
  }

  /**
   * @param asked the name or folder given by the user
   * @param others other suites, which messages name if they have the missing task
   * @param without as of {@link #without()}
   */
  Suite(
      String name,
      Path root,
      List<Task> tasks,
      List<BrokenTask> broken,
      String asked,
      Others others,
      List<Lacking> without) {
    this.name = name;
    this.root = root;
    this.tasks = List.copyOf(tasks);
    this.broken = List.copyOf(broken);
    this.asked = asked;
    this.others = others;
    this.without = List.copyOf(without);
    for (Task task : this.tasks) {
      byPath.putIfAbsent(task.path(), task);
      byName.computeIfAbsent(task.name(), _ -> new ArrayList<>()).add(task);
    }
  }

  /** {@code kernelbenchx}, or the folder's name. */
  public String name() {
    return name;
  }

  /** This suite of gradients, which lacks some tasks. */
  Suite lacking(List<Lacking> tasks) {
    return new Suite(name, root, this.tasks, broken, asked, others, tasks);
  }

  /** Of a suite of gradients, the tasks that have none. */
  public List<Lacking> without() {
    return without;
  }

  /**
   * A task without a gradient that can be judged.
   *
   * @param forward of the suite of results
   * @param why a kind and a reason: {@code random: the result is drawn}
   */
  public record Lacking(Task forward, String why) {}

  /** SHA-256, in hexadecimal digits, of what its tasks' files hold now. Reads them all. */
  public String digest() {
    return DigestUtils.sha256Hex(
        tasks.stream()
            .map(task -> task.path() + " " + task.digest())
            .collect(Collectors.joining("\n")));
  }

  public Path root() {
    return root;
  }

  public List<Task> tasks() {
    return tasks;
  }

  /** The task at {@code Category/name}. */
  public Optional<Task> task(String path) {
    return Optional.ofNullable(byPath.get(path));
  }

  /** The tasks with this name, in all categories. */
  public List<Task> named(String wanted) {
    return List.copyOf(byName.getOrDefault(wanted, List.of()));
  }

  /** The only task, if the suite was made from a user's own reference. */
  public Optional<Task> ofOwnReference() {
    if (tasks.size() != 1 || !name.startsWith(Task.OWN + "-")) return Optional.empty();
    return tasks.stream().filter(Task::isOwn).findFirst();
  }

  public List<BrokenTask> broken() {
    return broken;
  }

  /**
   * The tasks of a comma-separated selection, each once, in the suite's order. An item is a name, a
   * {@code Category/name}, a glob ({@code *}, {@code ?}) over either, or, in place of a name that
   * begins with a number, that number, where only one task has it: {@code level1/23}.
   *
   * @throws UnknownTask if an item matches nothing
   */
  public List<Task> find(String selection) {
    Set<Task> found = new LinkedHashSet<>();
    List<String> items =
        Arrays.stream(selection.split(",")).map(String::strip).filter(i -> !i.isEmpty()).toList();
    if (items.isEmpty()) throw new UnknownTask("no task is selected by '" + selection + "'");
    for (String item : items) found.addAll(meant(item));
    return tasks.stream().filter(found::contains).toList();
  }

  private List<Task> meant(String item) {
    List<Task> named = having(matches(item));
    if (named.isEmpty() && isOfGradients()) named = having(matches(item + Gradients.SUFFIX));
    if (!named.isEmpty()) return named;
    List<Task> numbered = having(numbered(item));
    if (numbered.size() != 1) throw new UnknownTask(unknown(item));
    return numbered;
  }

  private boolean isOfGradients() {
    return name.endsWith(BackwardSuite.SUFFIX);
  }

  private List<Task> having(Predicate<String> wanted) {
    return tasks.stream().filter(task -> wanted.test(task.path())).toList();
  }

  /**
   * One line about an unknown task: why its file cannot be used, which other suite has it, or
   * similar names.
   */
  public String unknown(String wanted) {
    Predicate<String> meant = matches(wanted).or(numbered(wanted));
    for (Lacking each : without) {
      String path = each.forward.path();
      if (!meant.test(path) && !meant.test(path + Gradients.SUFFIX)) continue;
      return "task '%s' of suite %s has no gradient to judge: %s".formatted(wanted, name, each.why);
    }
    for (BrokenTask each : broken) {
      if (each.name().equals(lastSegment(wanted))) {
        return "task '" + wanted + "' cannot be used: " + each;
      }
    }
    if (tasks.isEmpty() && !broken.isEmpty()) return noneUsable();
    Optional<Task> own = ofOwnReference();
    if (own.isPresent()) {
      return "no task '%s': the suite of --reference has one task, %s; leave --tasks out"
          .formatted(wanted, own.get().name());
    }
    return "no task '" + wanted + "' in suite " + name + "; " + help(wanted);
  }

  private String noneUsable() {
    return "%s: holds no task files: none of its .py files (%d) is one, as %s"
        .formatted(root, broken.size(), broken.getFirst());
  }

  private String help(String wanted) {
    List<Task> gradients = isOfGradients() ? having(matches(wanted + Gradients.SUFFIX)) : List.of();
    if (!gradients.isEmpty()) return didYouMean(gradients.stream().map(Task::name).toList());
    Optional<String> other = others.having(matches(wanted).or(numbered(wanted)));
    if (other.isPresent()) {
      return "it is one of suite %s: give --suite %s".formatted(other.get(), other.get());
    }
    List<String> close = suggestions(wanted);
    if (!close.isEmpty()) return didYouMean(close);
    String option = asked.equals(Suites.DEFAULT) ? "" : " --suite " + asked;
    return "`kbx tasks list" + option + "` shows all";
  }

  private static String didYouMean(List<String> names) {
    return "did you mean " + String.join(" or ", names) + "?";
  }

  private List<String> suggestions(String wanted) {
    String plain = wanted.endsWith("/") ? wanted.substring(0, wanted.length() - 1) : wanted;
    for (Task task : tasks) {
      if (task.category().equalsIgnoreCase(plain)) return List.of(task.category() + "/*");
    }
    List<Task> numbered = having(numbered(wanted));
    if (!numbered.isEmpty()) return numbered.stream().map(Task::path).toList();
    return Spelling.close(lastSegment(wanted), tasks.stream().map(Task::name).toList());
  }

  private static String lastSegment(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** Matches tasks by {@code Category/name} or name. */
  private static Predicate<String> matches(String item) {
    Pattern glob = glob(item);
    return path -> glob.matcher(lastSegment(path)).matches() || glob.matcher(path).matches();
  }

  /** Matches tasks whose name begins with a number: {@code number} or {@code Category/number}. */
  private static Predicate<String> numbered(String item) {
    int slash = item.lastIndexOf('/');
    String number = item.substring(slash + 1);
    if (!NUMBER.matcher(number).matches()) return _ -> false;
    return path ->
        lastSegment(path).startsWith(number + "_")
            && (slash < 0 || path.startsWith(item.substring(0, slash + 1)));
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

  /**
   * The other suites in kbx's folder, by the names of their files. They are read once, when a task
   * is not found.
   */
  static final class Others {
    private final @Nullable Path home;
    private final String opened;
    private @Nullable Map<String, List<String>> paths;

    /**
     * @param home kbx's own folder of suites; null for none
     * @param opened name of the opened suite
     */
    Others(@Nullable Path home, String opened) {
      this.home = home;
      this.opened = opened;
    }

    /** The first suite with a task whose {@code Category/name} is wanted. */
    Optional<String> having(Predicate<String> wanted) {
      return paths().entrySet().stream()
          .filter(suite -> suite.getValue().stream().anyMatch(wanted))
          .map(Map.Entry::getKey)
          .findFirst();
    }

    private synchronized Map<String, List<String>> paths() {
      if (paths == null) paths = read();
      return paths;
    }

    private Map<String, List<String>> read() {
      Map<String, List<String>> found = new TreeMap<>();
      if (home == null) return found;
      try {
        for (String suite : Suites.names(home)) {
          if (!suite.equals(opened)) found.put(suite, tasks(home.resolve(suite)));
        }
      } catch (InvalidSuite _) {
        return Map.of(); // The message is less helpful without it.
      }
      return found;
    }

    private static List<String> tasks(Path suite) {
      List<String> found = new ArrayList<>();
      for (Path category : Suites.list(suite)) {
        if (!Files.isDirectory(category)) continue;
        for (Path file : Suites.list(category)) {
          if (!file.toString().endsWith(".py")) continue;
          found.add(category.getFileName() + "/" + Suites.taskName(file));
        }
      }
      return found;
    }
  }
}
