package dev.kbx.candidate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A file {@code SUITE} in a folder of candidates, which names the suite that they are for. A run of
 * another suite passes such a folder over.
 */
public final class SuiteMark {
  private static final String FILE = "SUITE";
  private static final int MOST_CHARACTERS = 200;

  private SuiteMark() {}

  /** The suite that a folder, or the nearest one above it, is marked with; empty without a mark. */
  public static Optional<String> near(Path source) {
    for (Path at = source.toAbsolutePath().normalize(); at != null; at = at.getParent()) {
      Optional<String> mark = in(at);
      if (mark.isPresent()) return mark;
    }
    return Optional.empty();
  }

  /** The suite that a folder is marked with, if that is another than the named one. */
  static Optional<String> other(Path folder, String suite) {
    return in(folder).filter(mark -> isOther(mark, suite));
  }

  /** As {@link #near}, if that is another suite than the named one. */
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
      return Optional.empty(); // Some other file of that name.
    }
  }
}
