package dev.kbx.cli;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Programs that can be started. */
final class Executables {
  private Executables() {}

  /** Whether a command's first word is one: a path, or a name on the PATH. */
  static boolean exists(String word) {
    if (word.contains("/")) return isProgram(Path.of(word));
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of(path.split(File.pathSeparator, -1))
        .filter(folder -> !folder.isEmpty())
        .anyMatch(folder -> isProgram(Path.of(folder, word)));
  }

  private static boolean isProgram(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }
}
