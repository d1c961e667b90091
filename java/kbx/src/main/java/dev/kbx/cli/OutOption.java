package dev.kbx.cli;

import dev.kbx.app.ResultsFolder;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** {@code --out}, of commands that write into a results folder or read one. */
final class OutOption {
  @Option(
      names = "--out",
      paramLabel = "DIR",
      defaultValue = "kbx-out",
      description = "Results folder. Default: ${DEFAULT-VALUE}.")
  private Path out = Path.of("kbx-out");

  Path path() {
    return out;
  }

  /** The folder, which is created, and in which files can be written. */
  Path writable() {
    return ResultsFolder.writable(out);
  }
}
