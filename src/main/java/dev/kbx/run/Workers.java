package dev.kbx.run;

import dev.kbx.task.Task;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.Zygote;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The trusted processes of a run: one zygote for all slots, one oracle for each. Started when first
 * asked for, started again when they have died.
 */
public final class Workers implements AutoCloseable {
  private final Path python;
  private final Path home;
  private final KeptBaselines baselines;
  private @Nullable Zygote zygote;

  /**
   * @param python interpreter with torch and triton
   * @param home folder that holds {@code worker/}
   */
  public Workers(Path python, Path home) {
    this(python, home, new KeptBaselines(home.resolve(".kbx").resolve("baselines"), _ -> {}));
  }

  /** The same, with a place of its own for baselines. */
  public Workers(Path python, Path home, KeptBaselines baselines) {
    this.python = python;
    this.home = home;
    this.baselines = baselines;
  }

  /** The zygote, alive as far as is known. */
  public synchronized Zygote zygote() throws InterruptedException {
    Zygote current = zygote;
    if (current != null && current.alive()) return current;
    if (current != null) current.close();
    Zygote started = Zygote.start(python, home);
    zygote = started;
    return started;
  }

  /** A new slot; its oracle starts with the first use. */
  public Slot slot(DeviceSlot device) {
    return new Slot(this, device);
  }

  Oracle startBaselines(DeviceSlot device) throws InterruptedException {
    return Oracle.ofBaselines(python, home, device, baselines.compilers());
  }

  Oracle startOracle(DeviceSlot device) throws InterruptedException {
    return Oracle.start(python, home, device);
  }

  @Override
  public synchronized void close() {
    if (zygote != null) zygote.close();
    zygote = null;
  }

  /** One place where one candidate at a time is judged. Used by one thread at a time. */
  public static final class Slot implements AutoCloseable {
    private static final Duration PEAKS = Duration.ofMinutes(2);

    private final Workers workers;
    private final DeviceSlot device;
    private @Nullable Oracle oracle;
    private @Nullable Map<String, Double> peaks;
    private final Map<Path, List<Double>> quietBaselines = new HashMap<>();
    private final CompiledBaselines compiledBaselines;

    private Slot(Workers workers, DeviceSlot device) {
      this.workers = workers;
      this.device = device;
      this.compiledBaselines =
          new CompiledBaselines(() -> workers.startBaselines(device), workers.baselines);
    }

    public DeviceSlot device() {
      return device;
    }

    public Zygote zygote() throws InterruptedException {
      return workers.zygote();
    }

    public Oracle oracle() throws InterruptedException {
      Oracle current = oracle;
      if (current != null && current.alive()) return current;
      if (current != null) current.close();
      Oracle started = workers.startOracle(device);
      oracle = started;
      return started;
    }

    /** Measured peaks of this device, empty where there are none; measured once. */
    Map<String, Double> peaks() throws InterruptedException {
      Map<String, Double> known = peaks;
      if (known != null) return known;
      Map<String, Double> measured;
      try {
        measured = oracle().ask(Message.Peaks.class, Message.MeasurePeaks::new, PEAKS).figures();
      } catch (Oracle.Refused e) {
        measured = Map.of();
      }
      peaks = measured;
      return measured;
    }

    /**
     * The reference's times on each size of the task that is open, measured once. No candidate's
     * code may be loaded on this slot.
     */
    List<Double> quietBaseline(Task task, List<Message.Size> sizes)
        throws InterruptedException, Oracle.Refused {
      List<Double> known = quietBaselines.get(task.file());
      if (known != null) return known;
      List<Double> measured = QuietBaseline.measure(oracle(), sizes);
      quietBaselines.put(task.file(), measured);
      return measured;
    }

    /** Baselines besides eager, as this slot's device has them. */
    CompiledBaselines compiledBaselines() {
      return compiledBaselines;
    }

    /** Ends the oracle, so that the next use starts from nothing. */
    void reset() {
      if (oracle != null) oracle.close();
      oracle = null;
    }

    @Override
    public void close() {
      reset();
      compiledBaselines.close();
    }
  }
}
