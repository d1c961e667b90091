package dev.kbx.task;

import static java.util.Objects.requireNonNull;

import dev.kbx.syntax.SyntaxCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Opens suites: folders with a sub-folder per category and a Python file per task. */
public final class Suites {
  /** The default suite. */
  public static final String DEFAULT = "kernelbenchx";

  /** The suite that noise is measured with, which users have no use for. */
  public static final String NOISE = "noise";

  private static final Pattern NUMBER = Pattern.compile("(?:level)?(\\d{1,9})(?:_.*)?");

  private Suites() {}

  /**
   * Reads a suite: the one of that name under {@code tasksHome}, else the folder of that path.
   * Files and folders whose names start with a dot or an underscore are ignored.
   *
   * @throws InvalidSuite if there is no such folder, it cannot be read, or it holds no task files
   */
  public static Suite open(String nameOrFolder, Path tasksHome) {
    return open(nameOrFolder, tasksHome, _ -> true, TaskCache.nowhere(), SyntaxCheck.PARSER);
  }

  /**
   * Reads only the tasks of a suite whose names are wanted, which is faster; the other tasks are
   * unknown then.
   *
   * @param cache cache of parsed tasks
   * @param syntax finds syntax errors
   * @throws InvalidSuite as {@link #open(String, Path)} does
   */
  public static Suite open(
      String nameOrFolder,
      Path tasksHome,
      Predicate<String> wanted,
      TaskCache cache,
      SyntaxCheck syntax) {
    Path root = folder(nameOrFolder, tasksHome);
    boolean bundled = root.equals(tasksHome.resolve(suiteName(root, nameOrFolder)));
    TaskCache kept = bundled ? cache : TaskCache.nowhere();
    return read(nameOrFolder, root, tasksHome, wanted, kept, syntax);
  }

  /** Reads those tasks of a suite's folder that are wanted. */
  static Suite read(
      String nameOrFolder,
      Path root,
      Path tasksHome,
      Predicate<String> wanted,
      TaskCache cache,
      SyntaxCheck syntax) {
    String name = suiteName(root, nameOrFolder);
    List<Path> files = files(root);
    if (files.isEmpty()) {
      throw new InvalidSuite(
          root + ": holds no tasks; a suite has a folder per category and in it a .py per task");
    }
    List<Task> tasks = new ArrayList<>();
    List<BrokenTask> broken = new ArrayList<>();
    TaskCache.Suite known = cache.of(name);
    files.parallelStream()
        .filter(file -> wanted.test(taskName(file)))
        .map(file -> known.read(name, name(requireNonNull(file.getParent())), file, syntax))
        .toList()
        .forEach(read -> {
          switch (read) {
            case TaskFile.Usable(Task task) -> tasks.add(task);
            case TaskFile.Unusable(BrokenTask reason) -> broken.add(reason);
          }
        });
    if (tasks.size() + broken.size() == files.size()) known.keep();
    Suite.Others others = new Suite.Others(tasksHome, name);
    return new Suite(name, root, tasks, broken, nameOrFolder, others, List.of());
  }

  private static String suiteName(Path root, String nameOrFolder) {
    Path real = root.toAbsolutePath().normalize();
    return real.getFileName() == null ? nameOrFolder : real.getFileName().toString();
  }

  /** Task files, in the order of their categories and names. */
  private static List<Path> files(Path root) {
    return list(root).stream()
        .filter(Files::isDirectory)
        .flatMap(category -> list(category).stream())
        .filter(file -> file.toString().endsWith(".py"))
        .toList();
  }

  static String taskName(Path file) {
    String name = file.getFileName().toString();
    return name.substring(0, name.length() - ".py".length());
  }

  private static Path folder(String nameOrFolder, Path tasksHome) {
    return found(nameOrFolder, tasksHome)
        .orElseThrow(() ->
            new InvalidSuite(
                "no suite '%s': %s".formatted(nameOrFolder, help(nameOrFolder, tasksHome))));
  }

  /** The folder that a name or path means; empty if there is none. */
  static Optional<Path> found(String nameOrFolder, Path tasksHome) {
    try {
      boolean plain = !nameOrFolder.isEmpty() && Path.of(nameOrFolder).getNameCount() == 1;
      if (plain && !nameOrFolder.startsWith(".")) {
        Path named = tasksHome.resolve(nameOrFolder);
        if (Files.isDirectory(named)) return Optional.of(named);
      }
      if (!nameOrFolder.isEmpty() && Files.isDirectory(Path.of(nameOrFolder))) {
        return Optional.of(Path.of(nameOrFolder));
      }
    } catch (InvalidPathException _) {
      // No path at all, so no suite.
    }
    return Optional.empty();
  }

  private static String help(String wanted, Path tasksHome) {
    List<String> known = names(tasksHome);
    if (known.isEmpty()) return "neither a folder nor a suite in " + tasksHome;
    List<String> close = Spelling.close(wanted, known);
    return close.isEmpty()
        ? "it is not a folder; the suites here are " + String.join(", ", known)
        : "did you mean " + String.join(" or ", close) + "?";
  }

  /** The suites for users in kbx's folder; empty without such a folder. */
  static List<String> names(Path tasksHome) {
    if (!Files.isDirectory(tasksHome)) return List.of();
    return list(tasksHome).stream()
        .filter(Files::isDirectory)
        .map(Suites::name)
        .filter(name -> !name.equals(NOISE))
        .toList();
  }

  private static String name(Path entry) {
    return entry.getFileName().toString();
  }

  /** The number of a file or level, as in KernelBench's names. */
  private static int number(Path entry) {
    Matcher digits = NUMBER.matcher(name(entry));
    return digits.matches() ? Integer.parseInt(digits.group(1)) : Integer.MAX_VALUE;
  }

  /** Entries by number and name, without those whose names start with a dot or an underscore. */
  static List<Path> list(Path folder) {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries
          .filter(entry -> !entry.getFileName().toString().startsWith("."))
          .filter(entry -> !entry.getFileName().toString().startsWith("_"))
          .sorted(Comparator.comparingInt(Suites::number).thenComparing(Suites::name))
          .toList();
    } catch (IOException e) {
      throw new InvalidSuite(folder + ": cannot be read (" + e.getMessage() + ")");
    }
  }
}
