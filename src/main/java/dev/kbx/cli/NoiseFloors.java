package dev.kbx.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.device.CacheFile;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.NoiseFloor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** The noise floors of this machine's devices, a file each, by the device's UUID. */
final class NoiseFloors {
  private final Path folder;

  /**
   * @param folder need not be there
   */
  NoiseFloors(Path folder) {
    this.folder = folder;
  }

  /** Those that {@code kbx bench noise} kept. */
  static NoiseFloors kept() {
    return new NoiseFloors(Home.state().resolve("noise"));
  }

  /** The floor of a device as it was last measured; empty where it never was, or is unreadable. */
  Optional<NoiseFloor> of(@Nullable String uuid) {
    if (uuid == null) return Optional.empty();
    Path file = file(uuid);
    if (!Files.exists(file)) return Optional.empty();
    try {
      NoiseFloor floor = Json.mapper().readValue(Files.readString(file), NoiseFloor.class);
      return uuid.equals(floor.device().uuid()) ? Optional.of(floor) : Optional.empty();
    } catch (IOException | JacksonException | NullPointerException e) {
      System.err.printf(
          "kbx: %s: is no noise floor and is ignored; 'kbx bench noise' makes a new one%n", file);
      return Optional.empty();
    }
  }

  /**
   * Keeps the floor of its device in place of an older one; a device without a UUID has none kept.
   *
   * @return the file it is in now
   */
  Optional<Path> keep(NoiseFloor floor) {
    String uuid = floor.device().uuid();
    if (uuid == null) return Optional.empty();
    Path file = file(uuid);
    String text = Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(floor) + "\n";
    try {
      CacheFile.replace(file, text.getBytes(UTF_8));
      return Optional.of(file);
    } catch (IOException e) {
      throw new UserError(
          "%s: cannot keep the noise floor there: %s".formatted(file, Reason.of(e)));
    }
  }

  /** A UUID comes from a driver, but names a file here. */
  private Path file(String uuid) {
    return folder.resolve(CacheFile.named(uuid) + ".json");
  }
}
