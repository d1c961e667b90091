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
  private final KeptPeaks peaks;
  private @Nullable Zygote zygote;

  /**
   * @param python interpreter with torch and triton
   * @param home folder that holds {@code worker/}
   * @param peaks what is known of devices from before
   */
  public Workers(Path python, Path home, KeptPeaks peaks) {
    this.python = python;
    this.home = home;
    this.peaks = peaks;
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

    private Slot(Workers workers, DeviceSlot device) {
      this.workers = workers;
      this.device = device;
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

    /** Measured peaks of this device, empty where there are none; asked for once. */
    Map<String, Double> peaks() throws InterruptedException {
      Map<String, Double> known = peaks;
      if (known != null) return known;
      Map<String, Double> measured;
      try {
        Oracle asked = oracle();
        measured =
            workers.peaks.of(
                asked.hello(),
                () -> asked.ask(Message.Peaks.class, Message.MeasurePeaks::new, PEAKS));
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

    /** Ends the oracle, so that the next use starts from nothing. */
    void reset() {
      if (oracle != null) oracle.close();
      oracle = null;
    }

    @Override
    public void close() {
      reset();
    }
  }
}
