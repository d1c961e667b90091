package dev.kbx.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** How a program ended that was run to its end. */
record Launched(int exit, String out, String err) {
  /**
   * Runs a program in an environment that holds nothing but {@code environment}, without a daemon.
   *
   * @param folder the working directory, where its output is kept too
   */
  static Launched run(Path folder, Map<String, String> environment, List<String> command)
      throws IOException, InterruptedException {
    return start(folder, environment, command).await();
  }

  static Running start(Path folder, Map<String, String> environment, List<String> command)
      throws IOException {
    Path out = Files.createTempFile(folder, "run", ".out");
    Path err = Files.createTempFile(folder, "run", ".err");
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().clear();
    builder.environment().put("KBX_NO_DAEMON", "1");
    builder.environment().putAll(environment);
    return new Running(builder.start(), out, err);
  }

  /** One that has not ended yet. */
  record Running(Process process, Path out, Path err) {
    Launched await() throws IOException, InterruptedException {
      int exit = process.waitFor();
      return new Launched(
          exit,
          Files.readString(out, StandardCharsets.UTF_8),
          Files.readString(err, StandardCharsets.UTF_8));
    }
  }
}
