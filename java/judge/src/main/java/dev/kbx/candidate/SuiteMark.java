package dev.kbx.candidate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A file {@code SUITE} in a folder of candidates, which names their suite. Runs of other suites
 * ignore the folder.
 */
public final class SuiteMark {
  private static final String FILE = "SUITE";
  private static final int MOST_CHARACTERS = 200;

  private SuiteMark() {}

  /** The suite of the nearest mark in or above a folder; empty without a mark. */
  public static Optional<String> near(Path source) {
    for (Path at = source.toAbsolutePath().normalize(); at != null; at = at.getParent()) {
      Optional<String> mark = in(at);
      if (mark.isPresent()) return mark;
    }
    return Optional.empty();
  }

  /** The suite that a folder is marked with, if it differs from the named one. */
  static Optional<String> other(Path folder, String suite) {
    return in(folder).filter(mark -> isOther(mark, suite));
  }

  /** As {@link #near}, if it differs from the named suite. */
  static Optional<String> otherNear(Path source, String suite) {
    return near(source).filter(mark -> isOther(mark, suite));
  }

  private static boolean isOther(String mark, String suite) {
    return !suite.equals(mark) && !suite.startsWith(mark + "-");
  }

  private static Optional<String> in(Path folder) {
    Path file = folder.resolve(FILE);
    try {
      if (!Files.isRegularFile(file) || Files.size(file) > MOST_CHARACTERS) return Optional.empty();
      return Optional.of(Files.readString(file).strip()).filter(mark -> !mark.isEmpty());
    } catch (IOException _) {
      return Optional.empty(); // Another file of that name.
    }
  }
}
