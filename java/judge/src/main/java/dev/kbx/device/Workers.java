package dev.kbx.device;

import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.OracleHost;
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
 * The trusted processes of a run: one zygote for all slots; for each device the oracles that its
 * slots share; and with GPUs one shape tracer on the CPU. Each is started on first use and
 * restarted after it has ended. Safe for several threads.
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
   * @param peaks cache of measured peaks
   * @param compilers folder for the compiler caches of baselines
   * @param notices receives one line for each requested feature that this machine lacks, once each
   */
  public Workers(
      Path python, Path home, PeakCache peaks, Path compilers, Consumer<String> notices) {
    this(python, home, peaks, compilers, System::nanoTime, notices);
  }

  /**
   * Starts workers.
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
    this(OracleHost.trusting(python, home, clock), peaks, compilers, notices);
  }

  /**
   * Starts workers.
   *
   * @param oracles what oracles, and the zygote, are started with
   */
  public Workers(OracleHost oracles, PeakCache peaks, Path compilers, Consumer<String> notices) {
    this.processes = new Processes(oracles, compilers, notices);
    this.peaks = peaks;
  }

  /** The zygote; restarted if it has ended. */
  public Zygote zygote() throws InterruptedException {
    return processes.zygote();
  }

  /** Creates a slot. Slots on one GPU share it. */
  public Slot slot(DeviceSlot device) {
    Gpu gpu =
        device.kind() == DeviceSlot.Kind.CUDA
            ? gpus.computeIfAbsent(
                device.index(), _ -> new Gpu(processes, device, peaks, expected::get))
            : null;
    return new Slot(processes, device, gpu, compiling, expected);
  }

  /** Starts the processes that the first candidates on GPUs need, in the background. */
  public void begin() {
    if (gpus.isEmpty()) return;
    Processes.inBackground("shape tracer", processes::startShapeTracer);
    gpus.values().forEach(Gpu::begin);
  }

  /**
   * Starts the zygote in the background; without a GPU, an oracle that is started now shares its
   * import of torch. A failure is ignored here; the first real use reports it.
   */
  public Thread beginZygote() {
    if (gpus.isEmpty()) processes.shareImport();
    return Processes.inBackground("zygote", this::zygote);
  }

  /** Ends the oracles on the CPU but one; nobody judges now. */
  public void keepOneOracle() {
    processes.onCpu().keepOne();
  }

  /** Time of each GPU's exclusive holders by activity, by the GPU's number. */
  public Map<Integer, Map<String, Double>> spending() {
    Map<Integer, Map<String, Double>> spent = new TreeMap<>();
    gpus.forEach((index, gpu) -> spent.put(index, gpu.spending().seconds()));
    return spent;
  }

  @Override
  public void close() {
    List<Runnable> ends = new ArrayList<>(List.of(processes::close));
    gpus.values().forEach(gpu -> ends.add(gpu::close));
    ends.parallelStream().forEach(Runnable::run); // A context takes a while to release.
  }
}
