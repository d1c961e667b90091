package dev.kbx.timing;

import static dev.kbx.timing.Defaults.BASELINE_AGE;
import static java.util.Objects.requireNonNull;

import dev.kbx.device.CacheFile;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.L2State;
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
 * Compiled baselines measured before, in a file for each device, suite, task and kind.
 *
 * <p>A file is used only where everything that its times depend on is the same: the device, its
 * driver, the versions of Python, torch, triton and worker, and the task file. One that says
 * otherwise is left alone and named once.
 *
 * <p>Safe for use by several threads and processes: files are replaced as a whole.
 */
public final class BaselineCache {
  private final Path folder;
  private final InstantSource clock;
  private final Consumer<String> warn;
  private final AtomicBoolean warned = new AtomicBoolean();

  /**
   * Keeps them in a folder, which need not exist.
   *
   * @param folder what lies there is trusted
   * @param warn hears one line about files that cannot be used
   */
  public BaselineCache(Path folder, Consumer<String> warn) {
    this(folder, InstantSource.system(), warn);
  }

  BaselineCache(Path folder, InstantSource clock, Consumer<String> warn) {
    this.folder = folder;
    this.clock = clock;
    this.warn = warn;
  }

  /**
   * What the times of a task depend on.
   *
   * @param device UUID of the GPU
   * @param worker fingerprint of the Python that measured
   * @param task SHA-256 of the task file
   * @param cache what calls were timed with
   */
  record Key(
      String device,
      @Nullable String driver,
      @Nullable String torch,
      @Nullable String triton,
      @Nullable String python,
      @Nullable String worker,
      String task,
      L2State cache) {

    /** Empty where the device has no UUID: what cannot be told apart is not kept. */
    static Optional<Key> of(Message.Hello hello, Task task, L2State cache) {
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
              task.digest(),
              cache));
    }
  }

  private record Kept(Key key, List<CompiledTimes.Size> sizes) {
    Kept {
      requireNonNull(key);
      sizes = List.copyOf(sizes);
    }
  }

  /** Where compilers keep what they made. */
  public Path compilers() {
    return folder.resolve("compilers");
  }

  Instant now() {
    return clock.instant();
  }

  /** The sizes that were measured under this key and are young enough, by their shape. */
  Map<String, CompiledTimes.Size> read(Key key, Task task, Baseline kind) {
    Map<String, CompiledTimes.Size> usable = new LinkedHashMap<>();
    Path file = file(key, task, kind);
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

  /** Replaces what was kept; where that fails, nothing is. */
  void write(Key key, Task task, Baseline kind, List<CompiledTimes.Size> sizes) {
    Path file = file(key, task, kind);
    try {
      CacheFile.replace(file, Json.mapper().writeValueAsBytes(new Kept(key, sizes)));
    } catch (IOException e) {
      refuse(file, "cannot be written (" + e.getMessage() + ")");
    }
  }

  private Path file(Key key, Task task, Baseline kind) {
    return folder
        .resolve(CacheFile.named(key.device()))
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
                + ".json");
  }

  private void refuse(Path file, String why) {
    if (!warned.getAndSet(true)) {
      warn.accept("the kept baseline %s %s; measured anew".formatted(file, why));
    }
  }
}
