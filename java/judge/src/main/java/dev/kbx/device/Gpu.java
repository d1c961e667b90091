package dev.kbx.device;

import static dev.kbx.device.Defaults.CORRECTING;
import static dev.kbx.device.Defaults.GATHER;
import static dev.kbx.device.Defaults.PATIENCE;
import static dev.kbx.device.Defaults.PEAKS_LIMIT;

import dev.kbx.plan.Limits;
import dev.kbx.plan.MemoryRequirements;
import dev.kbx.plan.Plan;
import dev.kbx.task.Task;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.PeakRates;
import dev.kbx.worker.Runner;
import dev.kbx.worker.Zygote;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One GPU, shared by several slots: its lock, the oracle that times on it, its measured peaks and
 * memory requirements, and its {@link WarmRunnerPool}.
 *
 * <p>Only the exclusive holder of the lease may send requests to {@link #oracle} and {@link
 * #baselineOracle} or call {@link #peaks}. Any thread may start these oracles and read the {@link
 * #greeting}.
 */
public final class Gpu implements AutoCloseable {
  private final Processes processes;
  private final DeviceSlot device;
  private final SharedExclusiveLock lease = new SharedExclusiveLock(GATHER, PATIENCE);
  private final ConcurrencyLimit correcting = new ConcurrencyLimit(CORRECTING, "wait correctness");
  private final OraclePool oracles;
  private final WarmRunnerPool spares;
  private final Map<Path, MemoryRequirements> needs = new ConcurrentHashMap<>();
  private final Spending spending = new Spending();
  private final PeakCache knownPeaks;
  private final OnDemand<Oracle> oracle;
  private final OnDemand<Oracle> baselineOracle;
  private volatile @Nullable PeakRates peaks;
  private volatile @Nullable PeakRates peaksWithListed;
  private volatile boolean lost;
  private volatile Verdict.@Nullable Device described;

  /**
   * @param knownPeaks cache of measured peaks
   * @param expected number of candidates still to be judged on any slot
   */
  Gpu(Processes processes, DeviceSlot device, PeakCache knownPeaks, IntSupplier expected) {
    this.processes = processes;
    this.device = device;
    this.knownPeaks = knownPeaks;
    this.oracles = new OraclePool(() -> processes.untimedOracle(device));
    this.spares = new WarmRunnerPool(processes, device, lease, expected);
    this.oracle = new OnDemand<>(this::startOracle, Oracle::alive, Oracle::close);
    this.baselineOracle =
        new OnDemand<>(() -> processes.baselineOracle(device), Oracle::alive, Oracle::close);
  }

  private Oracle startOracle() throws InterruptedException {
    Oracle started = processes.oracle(device);
    described = DeviceDescription.of(started.hello());
    return started;
  }

  public SharedExclusiveLock lease() {
    return lease;
  }

  /** A task's memory requirements; estimated once. */
  public MemoryRequirements needs(Task task) throws InterruptedException {
    if (!task.isModule() && !task.isOwn()) return MemoryRequirements.USUAL;
    MemoryRequirements known = needs.get(task.file());
    if (known != null) return known;
    try {
      String file = task.file().toAbsolutePath().toString();
      OracleMessage.MemoryEstimated said =
          processes.askShapeTracer(
              OracleMessage.MemoryEstimated.class,
              id -> new OracleMessage.EstimateMemory(id, file));
      MemoryRequirements found =
          MemoryRequirements.of(said, greeting().deviceBytes(), greeting().hostBytes());
      needs.put(task.file(), found);
      return found;
    } catch (Oracle.Refused e) {
      return MemoryRequirements.USUAL; // Errors in the task are reported when it is opened.
    }
  }

  /** Marks the GPU as lost. */
  void lose() {
    lost = true;
  }

  boolean lost() {
    return lost;
  }

  /** Time of the exclusive holders, by activity. */
  public Spending spending() {
    return spending;
  }

  /** The oracle that times; started if necessary. */
  public Oracle oracle() throws InterruptedException {
    return oracle.get();
  }

  /**
   * The oracle that compiles references and times them; started if necessary. If a compiler hangs
   * or crashes there, no verdict is lost.
   */
  public Oracle baselineOracle() throws InterruptedException {
    return baselineOracle.get();
  }

  /** Ends that oracle; the next use starts a new one. */
  public void resetBaselineOracle() {
    baselineOracle.reset();
  }

  /** The greeting of the oracle that times: its versions and device. */
  Message.Hello greeting() throws InterruptedException {
    return oracle().hello();
  }

  /** The device, once an oracle has reported it. */
  Optional<Verdict.Device> described() {
    return Optional.ofNullable(described);
  }

  /** The oracles that do not time. */
  OraclePool oracles() {
    return oracles;
  }

  /** Waits for permission to enter the correctness stage; call this before taking the lease. */
  public ConcurrencyLimit.Pass admit() throws InterruptedException {
    return correcting.enter();
  }

  /** Starts the oracles in parallel: the first candidates need all of them at once. */
  void begin() {
    Processes.inBackground("timing oracle", this::oracle);
    for (int i = 0; i < CORRECTING; i++) Processes.inBackground("oracle", this::spareOracle);
  }

  /** Does the same as {@link #ready} in the background, while the first candidates are compiled. */
  public void readyInBackground(Plan plan) {
    var _ = Processes.inBackground("spares", () -> ready(plan));
  }

  /** Makes warm runners and measures peaks before a plan's first candidate needs them. */
  private void ready(Plan plan) throws InterruptedException {
    Message.Hello greeting = greeting();
    spares.expect(Slot.use(plan));
    if (plan.reaches(Stage.PERF)) spares.expect(Runner.Use.TIMED);
    spares.refill(plan.arch(), greeting, plan.limits().allowance());
    if (!plan.reaches(Stage.PERF) || knownPeaks.known(greeting).isPresent()) return;
    try (var _ = lease.alone()) {
      var _ = spending.on("peaks", this::peaks);
    }
  }

  private Oracle spareOracle() throws InterruptedException {
    try (SharedExclusiveLock.Held _ = lease.shared();
        OraclePool.Borrowed borrowed = oracles.borrow()) {
      borrowed.sound();
      return borrowed.oracle();
    }
  }

  /**
   * Peaks of this device, measured or read once, and what is listed of those that cannot be;
   * unknown if that fails. No candidate's code may be loaded on the device: it could keep the
   * device busy and so distort the cached peaks for weeks.
   */
  public PeakRates peaks() throws InterruptedException {
    PeakRates known = peaksWithListed;
    if (known != null) return known;
    try {
      Message.Hello hello = oracle().hello();
      PeakRates measured = knownPeaks.of(hello, this::measurePeaks);
      PeakRates found = ListedRates.beside(measured, hello.deviceName());
      peaks = measured;
      peaksWithListed = found;
      return found;
    } catch (Oracle.Refused e) {
      return PeakRates.UNKNOWN; // A device that is full now may have memory for the next candidate.
    }
  }

  /** What is known of the peaks without measuring; anybody may ask. */
  Optional<PeakRates> knownPeaks() throws InterruptedException {
    PeakRates known = peaks;
    return known == null ? knownPeaks.known(greeting()) : Optional.of(known);
  }

  /** Measures the current peaks, even if others use the device. They are not cached. */
  public OracleMessage.Peaks measurePeaks() throws InterruptedException, Oracle.Refused {
    return oracle()
        .ask(
            OracleMessage.Peaks.class,
            id -> new OracleMessage.MeasurePeaks(id, false),
            PEAKS_LIMIT);
  }

  /** Reports once a requested feature that this machine lacks. */
  public void notice(String text) {
    processes.notice(text);
  }

  /** A runner with a loopback network and without a CUDA context. */
  public Runner runnerWithLoopback(String arch, Zygote.Allowance allowance)
      throws InterruptedException {
    return processes.zygote().spawnWithLoopback(device, arch, oracle().hello(), allowance);
  }

  /** Ends the oracle that times; the next use starts a new one. */
  public void reset() {
    oracle.reset();
  }

  /**
   * A runner with a CUDA context and no candidate: a warm one, or a new one if none is ready. The
   * caller must hold the device, shared or exclusively.
   */
  public Runner runner(Runner.Use use, String arch, Message.Hello greeting, Limits limits)
      throws InterruptedException {
    Zygote.Allowance allowance = limits.allowance();
    return limits.isUsual()
        ? spares.take(use, arch, greeting, allowance)
        : spares.make(use, arch, greeting, allowance);
  }

  @Override
  public void close() {
    List.<Runnable>of(spares::close, baselineOracle::close, oracles::close, oracle::close)
        .parallelStream()
        .forEach(Runnable::run);
  }
}
