package dev.kbx.timing;

import static dev.kbx.timing.Defaults.BASELINE_AGE;
import static java.util.Objects.requireNonNull;

import dev.kbx.device.PeakCache;
import dev.kbx.files.AtomicFile;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.L2State;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.worker.Message;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * Cache of compiled baselines, one file for each device, suite, task and kind.
 *
 * <p>An entry is valid only under the same conditions: device, driver, versions of Python, torch,
 * triton and worker, and task file. An invalid file is left unchanged and reported once.
 *
 * <p>Safe for several threads and processes: files are replaced atomically.
 */
public final class BaselineCache {
  private final @Nullable Path folder;
  private final InstantSource clock;
  private final Consumer<String> warn;
  private final AtomicBoolean warned = new AtomicBoolean();

  /**
   * A cache in a folder, which need not exist.
   *
   * @param folder its content is trusted
   * @param warn receives one line for each file that cannot be used
   */
  public BaselineCache(Path folder, Consumer<String> warn) {
    this(folder, InstantSource.system(), warn);
  }

  BaselineCache(@Nullable Path folder, InstantSource clock, Consumer<String> warn) {
    this.folder = folder;
    this.clock = clock;
    this.warn = warn;
  }

  /** A cache that keeps nothing. */
  public static BaselineCache nowhere() {
    return new BaselineCache(null, InstantSource.system(), _ -> {});
  }

  /**
   * Everything that a task's times depend on.
   *
   * @param device UUID of the GPU
   * @param worker fingerprint of the Python that measured
   * @param task SHA-256 of the task file
   * @param cache L2 state of the timed calls
   * @param precision what the reference is cast to
   */
  record Key(
      String device,
      @Nullable String driver,
      @Nullable String torch,
      @Nullable String triton,
      @Nullable String python,
      @Nullable String worker,
      String task,
      L2State cache,
      ModulePrecision precision) {

    /** Empty if the device has no UUID: its times could not be told from another device's. */
    static Optional<Key> of(Message.Hello hello, CompiledBaselines.Asked asked) {
      String device = hello.deviceUuid();
      if (device == null) return Optional.empty();
      Map<String, String> versions = hello.versions();
      return Optional.of(
          new Key(
              device,
              hello.deviceDriver(),
              versions.get("torch"),
              versions.get("triton"),
              versions.get("python"),
              versions.get("worker"),
              asked.task().digest(),
              asked.cache(),
              asked.precision()));
    }
  }

  private record Kept(Key key, List<CompiledTimes.Size> sizes) {
    Kept {
      requireNonNull(key);
      sizes = List.copyOf(sizes);
    }
  }

  Instant now() {
    return clock.instant();
  }

  /** The sizes cached under this key that are recent enough, by shape. */
  Map<String, CompiledTimes.Size> read(Key key, Task task, Baseline kind) {
    Map<String, CompiledTimes.Size> usable = new LinkedHashMap<>();
    if (folder == null) return usable;
    Path file = file(folder, key, task, kind);
    if (!Files.exists(file)) return usable;
    try {
      Kept kept = Json.mapper().readValue(Files.readAllBytes(file), Kept.class);
      if (!kept.key().equals(key)) {
        refuse(
            file, "was measured on another device, with other versions or for another task file");
        return usable;
      }
      Instant oldest = now().minus(BASELINE_AGE);
      for (CompiledTimes.Size size : kept.sizes()) {
        if (size.measured().isAfter(oldest)) usable.putIfAbsent(size.shape(), size);
      }
    } catch (IOException | JacksonException | NullPointerException e) {
      refuse(file, "cannot be read");
    }
    return usable;
  }

  /** Replaces the entry; if that fails, there is none. */
  void write(Key key, Task task, Baseline kind, List<CompiledTimes.Size> sizes) {
    if (folder == null) return;
    Path file = file(folder, key, task, kind);
    try {
      AtomicFile.cache(file, Json.mapper().writeValueAsBytes(new Kept(key, sizes)));
    } catch (IOException e) {
      refuse(file, "cannot be written (" + e.getMessage() + ")");
    }
  }

  private static Path file(Path folder, Key key, Task task, Baseline kind) {
    return folder
        .resolve(PeakCache.fileName(key.device()))
        .resolve(
            task.suite()
                + "."
                + task.category()
                + "."
                + task.name()
                + "."
                + kind.label()
                + "."
                + key.cache().label()
                + "."
                + key.precision().label()
                + ".json");
  }

  private void refuse(Path file, String why) {
    if (!warned.getAndSet(true)) {
      warn.accept("the kept baseline %s %s; measured anew".formatted(file, why));
    }
  }
}
