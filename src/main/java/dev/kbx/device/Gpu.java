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
 * One GPU, which several slots share: who may use it, the oracle that times on it, what was
 * measured there, and {@link WarmRunnerPool}.
 *
 * <p>To ask what {@link #oracle} and {@link #baselineOracle} give and {@link #peaks} are for
 * whoever holds the lease alone; starting those oracles and hearing the {@link #greeting} are for
 * all.
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
  private volatile boolean lost;
  private volatile Verdict.@Nullable Device described;

  /**
   * @param knownPeaks of devices, from before
   * @param expected candidates that are still to be judged on any slot
   */
  Gpu(Processes processes, DeviceSlot device, PeakCache knownPeaks, IntSupplier expected) {
    this.processes = processes;
    this.device = device;
    this.knownPeaks = knownPeaks;
    this.oracles = new OraclePool(() -> processes.oracle(device));
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

  /** What a task's calls take, found out once. */
  public MemoryRequirements needs(Task task) throws InterruptedException {
    if (!task.isModule()) return MemoryRequirements.USUAL;
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
      return MemoryRequirements.USUAL; // What is wrong with the task is said when it is opened.
    }
  }

  /** It computes no more. */
  void lose() {
    lost = true;
  }

  boolean lost() {
    return lost;
  }

  /** Where the time of whoever was alone on the device went. */
  public Spending spending() {
    return spending;
  }

  /** The oracle that times. */
  public Oracle oracle() throws InterruptedException {
    return oracle.get();
  }

  /**
   * An oracle that compiles references and times what comes of it. A compiler that hangs or falls
   * costs no verdict there.
   */
  public Oracle baselineOracle() throws InterruptedException {
    return baselineOracle.get();
  }

  /** Ends that oracle, so that the next use starts from nothing. */
  public void resetBaselineOracle() {
    baselineOracle.reset();
  }

  /** What the oracle that times says of itself and the device. */
  Message.Hello greeting() throws InterruptedException {
    return oracle().hello();
  }

  /** The device, once an oracle has said which it is. */
  Optional<Verdict.Device> described() {
    return Optional.ofNullable(described);
  }

  /** Oracles that do not time. */
  OraclePool oracles() {
    return oracles;
  }

  /** The right to be in the correctness stage; to be asked for before the lease. */
  public ConcurrencyLimit.Pass admit() throws InterruptedException {
    return correcting.enter();
  }

  /** Starts the oracles: the first candidates need all of them at once. */
  void begin() {
    Processes.inBackground("timing oracle", this::oracle);
    for (int i = 0; i < CORRECTING; i++) Processes.inBackground("oracle", this::spareOracle);
  }

  /** As {@link #ready}, while the first candidates are being compiled. */
  public void readyInBackground(Plan plan) {
    var _ = Processes.inBackground("spares", () -> ready(plan));
  }

  /** Makes runners and measures peaks before a plan's first candidate needs them. */
  private void ready(Plan plan) throws InterruptedException {
    Message.Hello greeting = greeting();
    if (plan.reaches(Stage.PERF)) spares.expectTiming();
    spares.refill(plan.arch(), greeting, plan.limits().allowance());
    if (!plan.reaches(Stage.PERF) || knownPeaks.has(greeting)) return;
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
   * Measured peaks of this device, unknown where there are none; asked for once. No candidate's
   * code may be loaded on this device: it could keep the device busy, and others would be held
   * against the figures for weeks.
   */
  public PeakRates peaks() throws InterruptedException {
    PeakRates known = peaks;
    if (known != null) return known;
    try {
      PeakRates found = knownPeaks.of(oracle().hello(), this::measurePeaks);
      peaks = found;
      return found;
    } catch (Oracle.Refused e) {
      return PeakRates.UNKNOWN; // A device that is full now may have room for the next candidate.
    }
  }

  /** Peaks of this moment, whoever else uses the device. They are not kept. */
  public OracleMessage.Peaks measurePeaks() throws InterruptedException, Oracle.Refused {
    return oracle()
        .ask(
            OracleMessage.Peaks.class,
            id -> new OracleMessage.MeasurePeaks(id, false),
            PEAKS_LIMIT);
  }

  /** Says, once, what this machine cannot do of what was asked for. */
  public void notice(String text) {
    processes.notice(text);
  }

  /** A runner that may talk to itself, without a CUDA context. */
  public Runner runnerWithLoopback(String arch, Zygote.Allowance allowance)
      throws InterruptedException {
    return processes.zygote().spawnWithLoopback(device, arch, oracle().hello(), allowance);
  }

  /** Ends the oracle that times, so that the next use starts from nothing. */
  public void reset() {
    oracle.reset();
  }

  /**
   * A runner with a CUDA context and no candidate. The device must be held, shared or alone; where
   * no runner is ready, it makes one.
   */
  public Runner runner(WarmRunnerPool.Use use, String arch, Message.Hello greeting, Limits limits)
      throws InterruptedException {
    Zygote.Allowance allowance = limits.allowance();
    return limits.needs().heavy()
        ? spares.make(use, arch, greeting, allowance)
        : spares.take(use, arch, greeting, allowance);
  }

  @Override
  public void close() {
    List.<Runnable>of(spares::close, baselineOracle::close, oracles::close, oracle::close)
        .parallelStream()
        .forEach(Runnable::run);
  }
}
