package dev.kbx.report;

import dev.kbx.analysis.NoiseReport;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.verdict.Json;
import java.nio.file.Path;

/** {@link NoiseReport} as {@code noise.json}. */
public final class NoiseFile {
  private NoiseFile() {}

  /** Writes the file in a folder. Throws {@link UnwritableException}. */
  public static void write(NoiseReport report, Path folder) {
    String text = Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(report);
    AtomicFile.replace(folder.resolve("noise.json"), writer -> writer.write(text + "\n"));
  }
}
