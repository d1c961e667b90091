package dev.kbx.task;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The other suites in kbx's folder, by the names of their files. They are read once, when a task is
 * not found.
 */
final class OtherSuites {
  private final @Nullable Path home;
  private final String opened;
  private @Nullable Map<String, List<String>> paths;

  /**
   * @param home kbx's own folder of suites; null for none
   * @param opened name of the opened suite
   */
  OtherSuites(@Nullable Path home, String opened) {
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
