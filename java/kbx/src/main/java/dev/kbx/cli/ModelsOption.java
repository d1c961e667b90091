package dev.kbx.cli;

import dev.kbx.app.UserError;
import dev.kbx.llm.ModelCatalog;
import dev.kbx.worker.ScratchFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The configuration of language models. */
final class ModelsOption {
  private static final String VARIABLE = "KBX_MODELS";
  private static final String NAME = "models.toml";

  @Option(
      names = "--models",
      paramLabel = "FILE",
      description =
          "Configuration of models. Default: $KBX_MODELS, else models.toml in this folder, else"
              + " ~/.config/kbx/models.toml.")
  private @Nullable Path file;

  ModelCatalog catalog() {
    return ModelCatalog.read(file(), System.getenv(), ScratchFolder::files);
  }

  /** The file in use; it may not exist, unless it was named. */
  Path file() {
    return file(System.getenv());
  }

  private Path file(Map<String, String> environment) {
    if (file != null) return existing("--models", file);
    String named = environment.getOrDefault(VARIABLE, "");
    if (!named.isEmpty()) return existing(VARIABLE, Path.of(named));
    Path here = Path.of(NAME);
    Path own = Path.of(environment.getOrDefault("HOME", ""), ".config", "kbx", NAME);
    return Stream.of(here, own).filter(Files::exists).findFirst().orElse(here);
  }

  private static Path existing(String from, Path named) {
    if (Files.isRegularFile(named)) return named;
    throw new UserError("%s %s: is no file".formatted(from, named));
  }
}
