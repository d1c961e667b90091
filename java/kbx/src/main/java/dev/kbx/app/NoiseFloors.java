package dev.kbx.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.analysis.SelectedRuns;
import dev.kbx.device.PeakCache;
import dev.kbx.error.InputException;
import dev.kbx.files.AtomicFile;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.NoiseFloor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** The stored noise floors of this machine's devices: a file for each, named by its UUID. */
public final class NoiseFloors {
  private final Path folder;
  private final Observer observer;

  /**
   * @param folder need not be there
   */
  public NoiseFloors(Path folder, Observer observer) {
    this.observer = observer;
    this.folder = folder;
  }

  /** The noise floors stored by {@code kbx bench noise}. */
  public static NoiseFloors kept(Home home, Observer observer) {
    return new NoiseFloors(home.state().resolve("noise"), observer);
  }

  /** The stored noise floors of all GPUs that the runs timed on. */
  public List<NoiseFloor> ofRuns(SelectedRuns runs) {
    return runs.runs().stream()
        .flatMap(run -> run.judged().gpus().stream())
        .distinct()
        .flatMap(gpu -> of(gpu).stream())
        .toList();
  }

  /** The last noise floor of a device; empty if there is none or it is unreadable. */
  public Optional<NoiseFloor> of(@Nullable String uuid) {
    if (uuid == null) return Optional.empty();
    Path file = file(uuid);
    if (!Files.exists(file)) return Optional.empty();
    try {
      NoiseFloor floor = Json.mapper().readValue(Files.readString(file), NoiseFloor.class);
      return uuid.equals(floor.device().uuid()) ? Optional.of(floor) : Optional.empty();
    } catch (IOException | JacksonException | NullPointerException e) {
      observer.note(
          "%s: is not a noise floor and is ignored; 'kbx bench noise' makes a new one"
              .formatted(file));
      return Optional.empty();
    }
  }

  /**
   * Stores a noise floor in place of the device's older one; does nothing without a UUID.
   *
   * @return the file it is in now
   */
  public Optional<Path> keep(NoiseFloor floor) {
    String uuid = floor.device().uuid();
    if (uuid == null) return Optional.empty();
    Path file = file(uuid);
    String text = Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(floor) + "\n";
    try {
      AtomicFile.cache(file, text.getBytes(UTF_8));
      return Optional.of(file);
    } catch (IOException e) {
      throw new InputException(
          "%s: cannot keep the noise floor there: %s".formatted(file, Reason.of(e)), e);
    }
  }

  /** The file of a UUID, whose characters are restricted, as it comes from a driver. */
  private Path file(String uuid) {
    return folder.resolve(PeakCache.fileName(uuid) + ".json");
  }
}
