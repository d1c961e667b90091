package dev.kbx.corpus;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnreadableException;
import dev.kbx.files.UnwritableException;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import tools.jackson.core.JacksonException;

/** The files of {@code kbx bench cheats}: {@code cheats.json}, and the page of the docs. */
public final class CheatFiles {
  private CheatFiles() {}

  /** Writes {@code cheats.json} in a folder. Throws {@link UnwritableException}. */
  public static void write(Path folder, Trials trials) {
    String text = Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(trials);
    AtomicFile.replace(folder.resolve("cheats.json"), writer -> writer.write(text + "\n"));
  }

  /**
   * Writes the page that compares a run on the CPU with one kept from a GPU.
   *
   * @param onGpu a {@code cheats.json}; need not be there
   */
  public static void writePage(Path page, Trials onCpu, Path onGpu) {
    CheatPage content = new CheatPage(onCpu, read(onGpu));
    AtomicFile.replace(page.toAbsolutePath(), content::write);
  }

  private static Optional<Trials> read(Path file) {
    if (!Files.exists(file)) return Optional.empty();
    try {
      return Optional.of(Json.mapper().readValue(Files.readString(file), Trials.class));
    } catch (IOException | JacksonException e) {
      throw new UnreadableException(file, "is not a cheats.json", e);
    }
  }
}
