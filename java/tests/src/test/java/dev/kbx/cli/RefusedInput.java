package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** What tests of bad input share. */
abstract class RefusedInput {
  static final String GOOD =
      """
      {"file": "Activation/gelu.py", "predict": "def gelu(input, approximate='none'):\\n    return input"}
      """;

  @TempDir Path folder;

  /** Judges a source as far as no Python is needed. */
  Kbx.Result eval(Object source, Object... more) {
    return Kbx.here(arguments(source, more));
  }

  Object[] arguments(Object source, Object... more) {
    Object[] arguments = new Object[more.length + 6];
    Object[] common = {"eval", source, "--stages", "static", "--out", folder.resolve("out")};
    System.arraycopy(common, 0, arguments, 0, common.length);
    System.arraycopy(more, 0, arguments, common.length, more.length);
    return arguments;
  }

  Path file(String name, String content) throws IOException {
    return Files.writeString(folder.resolve(name), content);
  }

  static void refused(Kbx.Result result, String... words) {
    assertThat(result.exit()).as(result.err()).isEqualTo(1);
    assertThat(result.err()).contains(words).doesNotContain("\tat ");
    assertThat(result.out()).isEmpty();
  }

  /** Refused before anything is read, in one line. */
  static void refusedInOneLine(Kbx.Result result, String line) {
    refused(result, line);
    assertThat(result.err().lines()).hasSize(1);
    assertThat(result.err()).startsWith("kbx: " + line);
  }

  /** In a process of its own: in this one, opening a store may log. */
  Kbx.Result alone(Path source) throws Exception {
    return Kbx.run(folder, arguments(source));
  }
}
