package dev.kbx.device;

import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Zygote;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The trusted processes of a run: one zygote for all slots, for each device oracles that several
 * slots share, and with GPUs one oracle more, which says on the CPU what calls look like. Started
 * when first asked for, started again when they have died. Safe for several threads.
 */
public final class Workers implements AutoCloseable {
  private final Processes processes;
  private final PeakCache peaks;
  private final CompileLimits compiling = new CompileLimits();
  private final AtomicInteger expected = new AtomicInteger(Integer.MAX_VALUE);
  private final Map<Integer, Gpu> gpus = new ConcurrentSkipListMap<>();

  /**
   * @param python interpreter with torch and triton
   * @param home folder that holds {@code worker/}
   * @param peaks what is known of devices from before
   * @param compilers where compilers of baselines keep what they made
   * @param notices hears, once each, what this machine cannot do of what was asked for
   */
  public Workers(
      Path python, Path home, PeakCache peaks, Path compilers, Consumer<String> notices) {
    this(python, home, peaks, compilers, System::nanoTime, notices);
  }

  /**
   * As above.
   *
   * @param clock nanoseconds, as {@link System#nanoTime}: what answers are timed with
   */
  public Workers(
      Path python,
      Path home,
      PeakCache peaks,
      Path compilers,
      LongSupplier clock,
      Consumer<String> notices) {
    this.processes = new Processes(python, home, compilers, clock, notices);
    this.peaks = peaks;
  }

  /** The zygote, alive as far as is known. */
  public Zygote zygote() throws InterruptedException {
    return processes.zygote();
  }

  /** A new slot. Slots on one GPU share it. */
  public Slot slot(DeviceSlot device) {
    Gpu gpu =
        device.kind() == DeviceSlot.Kind.CUDA
            ? gpus.computeIfAbsent(
                device.index(), _ -> new Gpu(processes, device, peaks, expected::get))
            : null;
    return new Slot(processes, device, gpu, compiling, expected);
  }

  /** Starts what the first candidates on GPUs need, beside whatever else is starting. */
  public void begin() {
    if (gpus.isEmpty()) return;
    Processes.inBackground("shape tracer", processes::startShapeTracer);
    gpus.values().forEach(Gpu::begin);
  }

  /** Starts the zygote while nobody needs it yet; whoever does finds out what is wrong. */
  public Thread beginZygote() {
    return Processes.inBackground("zygote", this::zygote);
  }

  /** Where the time of whoever was alone on a GPU went, by the GPU's number. */
  public Map<Integer, Map<String, Double>> spending() {
    Map<Integer, Map<String, Double>> spent = new TreeMap<>();
    gpus.forEach((index, gpu) -> spent.put(index, gpu.spending().seconds()));
    return spent;
  }

  @Override
  public void close() {
    List<Runnable> ends = new ArrayList<>(List.of(processes::close));
    gpus.values().forEach(gpu -> ends.add(gpu::close));
    ends.parallelStream().forEach(Runnable::run); // A context takes a while to go.
  }
}
