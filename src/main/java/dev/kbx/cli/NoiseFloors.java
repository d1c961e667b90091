package dev.kbx.cli;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.NoiseFloor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** The noise floors of this machine's devices, a file each, by the device's UUID. */
final class NoiseFloors {
  private static final String FOLDER = "noise";

  private final List<Path> folders;

  /**
   * @param stateFolders as {@link Home#stateFolders}: kept in the first that can be written
   */
  NoiseFloors(List<Path> stateFolders) {
    folders = stateFolders.stream().map(folder -> folder.resolve(FOLDER)).toList();
  }

  /** The floor of a device as it was last measured; empty where it never was, or is unreadable. */
  Optional<NoiseFloor> of(@Nullable String uuid) {
    if (uuid == null) return Optional.empty();
    for (Path folder : folders) {
      Path file = folder.resolve(name(uuid));
      if (Files.exists(file)) return read(file, uuid);
    }
    return Optional.empty();
  }

  /**
   * Keeps the floor of its device in place of an older one; a device without a UUID has none kept.
   *
   * @return the file it is in now
   * @throws UserError where no folder can be written
   */
  Optional<Path> keep(NoiseFloor floor) {
    String uuid = floor.device().uuid();
    if (uuid == null) return Optional.empty();
    IOException problem = null;
    for (Path folder : folders) {
      try {
        return Optional.of(write(folder, name(uuid), floor));
      } catch (IOException e) {
        problem = e;
      }
    }
    throw new UserError(
        "cannot keep the noise floor in %s or %s: %s"
            .formatted(folders.getFirst(), folders.getLast(), problem));
  }

  private static Path write(Path folder, String name, NoiseFloor floor) throws IOException {
    Files.createDirectories(folder);
    Path draft = folder.resolve("." + name + "." + ProcessHandle.current().pid());
    Files.writeString(
        draft, Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(floor) + "\n");
    return Files.move(draft, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }

  private static Optional<NoiseFloor> read(Path file, String uuid) {
    try {
      NoiseFloor floor = Json.mapper().readValue(Files.readString(file), NoiseFloor.class);
      return uuid.equals(floor.device().uuid()) ? Optional.of(floor) : Optional.empty();
    } catch (IOException | JacksonException | NullPointerException e) {
      System.err.printf(
          "kbx: %s: is no noise floor and is ignored; 'kbx bench noise' makes a new one%n", file);
      return Optional.empty();
    }
  }

  /** A UUID comes from a driver, but names a file here. */
  private static String name(String uuid) {
    return uuid.replaceAll("[^A-Za-z0-9-]", "_") + ".json";
  }
}
