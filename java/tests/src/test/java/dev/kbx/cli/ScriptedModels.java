package dev.kbx.cli;

import dev.kbx.llm.ScriptedProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * A {@code models.toml} that leads to a scripted provider: a model for each wire format, streaming
 * and not.
 */
final class ScriptedModels {
  /** The name of a model says how it is asked. */
  static final List<String> NAMES =
      List.of("openai-stream", "openai-whole", "anthropic-stream", "anthropic-whole");

  static final String KEY = "sk-secret-of-the-test";

  private ScriptedModels() {}

  /**
   * Writes the configuration and the file with the key.
   *
   * @param lines more lines of each model's table
   */
  static Path write(Path folder, ScriptedProvider provider, String... lines) throws IOException {
    StringBuilder text = new StringBuilder();
    for (String name : NAMES) {
      text.append(
          """
          [[model]]
          name = "%s"
          provider = "%s"
          base_url = "%s"
          key_file = "%s"
          stream = %s
          retry_seconds = 0.001
          """
              .formatted(
                  name,
                  name.replaceFirst("-.*", ""),
                  provider.address(),
                  key(folder),
                  name.endsWith("stream")));
      text.append(String.join("\n", lines)).append("\n\n");
    }
    return Files.writeString(folder.resolve("models.toml"), text);
  }

  private static Path key(Path folder) throws IOException {
    Path key = folder.resolve("key");
    if (Files.exists(key)) return key;
    Files.createFile(
        key, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return Files.writeString(key, KEY);
  }
}
