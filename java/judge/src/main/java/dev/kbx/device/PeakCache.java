package dev.kbx.device;

import static dev.kbx.device.Defaults.PEAK_AGE;

import dev.kbx.files.AtomicFile;
import dev.kbx.verdict.Json;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.PeakRates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * Cache of measured peaks, one file for each device. An entry is valid while device, driver, torch
 * and worker are the same and it is recent. Safe for several threads and processes.
 */
public final class PeakCache {
  private final @Nullable Path folder;
  private final InstantSource clock;
  private final Consumer<String> problems;

  private PeakCache(@Nullable Path folder, InstantSource clock, Consumer<String> problems) {
    this.folder = folder;
    this.clock = clock;
    this.problems = problems;
  }

  /**
   * A cache in a folder, which need not exist.
   *
   * @param problems receives one line for each file that cannot be used
   */
  public static PeakCache in(Path folder, InstantSource clock, Consumer<String> problems) {
    return new PeakCache(folder, clock, problems);
  }

  /** A cache that keeps nothing. */
  public static PeakCache nowhere() {
    return new PeakCache(null, InstantSource.system(), _ -> {});
  }

  /** Measures a device. */
  interface Measuring {
    OracleMessage.Peaks measure() throws InterruptedException, Oracle.Refused;
  }

  /** The conditions under which peaks are valid. */
  private record Device(String uuid, String driver, String torch, String worker) {
    static @Nullable Device of(Message.Hello hello) {
      String uuid = hello.deviceUuid();
      String driver = hello.deviceDriver();
      String torch = hello.versions().get("torch");
      String worker = hello.versions().get("worker");
      if (uuid == null || driver == null || torch == null || worker == null) return null;
      return new Device(uuid, driver, torch, worker);
    }
  }

  /** The content of a file. */
  private record Kept(Device device, Instant measured, PeakRates rates) {}

  /** The cached rates of the device that sent this greeting, or else newly measured ones. */
  PeakRates of(Message.Hello hello, Measuring measuring)
      throws InterruptedException, Oracle.Refused {
    Device device = Device.of(hello);
    if (folder == null || device == null) return measuring.measure().rates();
    Path file = file(folder, device);
    Kept kept = valid(file, device);
    if (kept != null) return kept.rates();
    OracleMessage.Peaks measured = measuring.measure();
    // Throttled rates are not peaks.
    if (!measured.state().slowed())
      write(file, new Kept(device, clock.instant(), measured.rates()));
    return measured.rates();
  }

  /** The rates that the cache has for the device. */
  Optional<PeakRates> known(Message.Hello hello) {
    Device device = Device.of(hello);
    if (folder == null || device == null) return Optional.empty();
    return Optional.ofNullable(valid(file(folder, device), device)).map(Kept::rates);
  }

  /** The name of a file for a GPU. Its UUID comes from a driver and may contain anything. */
  public static String fileName(String uuid) {
    return uuid.replaceAll("[^A-Za-z0-9-]", "_");
  }

  private static Path file(Path folder, Device device) {
    return folder.resolve(fileName(device.uuid()) + ".json");
  }

  private @Nullable Kept valid(Path file, Device device) {
    Kept kept = read(file);
    return kept != null && kept.device().equals(device) && fresh(kept) ? kept : null;
  }

  private boolean fresh(Kept kept) {
    Duration age = Duration.between(kept.measured(), clock.instant());
    return !age.isNegative() && age.compareTo(PEAK_AGE) < 0;
  }

  private @Nullable Kept read(Path file) {
    if (!Files.exists(file)) return null;
    try {
      Kept kept = Json.mapper().readValue(Files.readAllBytes(file), Kept.class);
      if (complete(kept)) return kept;
      problems.accept(file + " has no peaks of a device; they are measured again");
    } catch (IOException | JacksonException e) {
      problems.accept(file + " cannot be read; the device's peaks are measured again");
    }
    return null;
  }

  private static boolean complete(@Nullable Kept kept) {
    return kept != null
        && kept.device() != null
        && kept.measured() != null
        && kept.rates() != null
        && kept.rates().copyGbs() != null
        && Stream.concat(
                Stream.of(kept.rates().copyGbs(), kept.rates().emptyMs(), kept.rates().launchMs())
                    .filter(Objects::nonNull),
                kept.rates().tflops().values().stream())
            .allMatch(v -> v > 0 && v < 1e12);
  }

  private void write(Path file, Kept kept) {
    try {
      AtomicFile.cache(
          file, Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsBytes(kept));
    } catch (IOException e) {
      problems.accept("the device's peaks cannot be kept in " + file + ": " + e.getMessage());
    }
  }
}
