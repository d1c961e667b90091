package dev.kbx.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The Java files of this repository. */
final class JavaSources {
  private JavaSources() {}

  /** In the order of their paths. */
  static List<Path> all() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("java"))) {
      List<Path> found = files.filter(f -> f.toString().endsWith(".java")).sorted().toList();
      assertThat(found).hasSizeGreaterThan(1_000);
      return found;
    }
  }

  /** The text of all, with their paths. */
  static String content(List<Path> files) throws IOException {
    StringBuilder content = new StringBuilder();
    for (Path file : files) content.append(file).append('\0').append(Files.readString(file));
    return content.toString();
  }
}
