package dev.kbx.device;

import static dev.kbx.device.Defaults.PROBE_LIMIT;

import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.PeakRates;
import dev.kbx.worker.Runner;
import dev.kbx.worker.WorkerFailure;
import dev.kbx.worker.Zygote;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** A slot of a device: judges one candidate at a time. Confined to one thread at a time. */
public final class Slot {
  private static final List<Duration> PAUSES =
      List.of(Duration.ZERO, Duration.ofSeconds(1), Duration.ofSeconds(3));

  private final Processes processes;
  private final DeviceSlot device;
  private final @Nullable Gpu gpu;
  private final CompileLimits compiling;
  private final AtomicInteger expected;

  /**
   * @param gpu shared with other slots; null on the CPU
   * @param expected number of candidates still to be judged on any slot
   */
  Slot(
      Processes processes,
      DeviceSlot device,
      @Nullable Gpu gpu,
      CompileLimits compiling,
      AtomicInteger expected) {
    this.processes = processes;
    this.device = device;
    this.gpu = gpu;
    this.compiling = compiling;
    this.expected = expected;
  }

  public DeviceSlot device() {
    return device;
  }

  /** The greeting of an oracle of this slot's device; started if necessary. */
  public Message.Hello greeting() throws InterruptedException {
    if (gpu != null) return gpu.greeting();
    try (OraclePool.Borrowed borrowed = borrow()) {
      borrowed.sound();
      return borrowed.oracle().hello();
    }
  }

  /**
   * The slot's GPU, once its oracle has reported it; the GPUs of one run differ at least in their
   * UUIDs. Empty on the CPU.
   */
  public Optional<Verdict.Device> described() {
    return gpu == null ? Optional.empty() : gpu.described();
  }

  /** The slot's GPU, shared with other slots; null on the CPU. */
  public @Nullable Gpu gpu() {
    return gpu;
  }

  /** Peaks of the GPU, if earlier runs have measured them; nothing is measured. */
  public Optional<PeakRates> knownPeaks() throws InterruptedException {
    return gpu == null ? Optional.empty() : gpu.knownPeaks();
  }

  public Zygote zygote() throws InterruptedException {
    return processes.zygote();
  }

  /** Announces a number of candidates for this slot and those beside it. */
  public void expect(int candidates) {
    expected.set(candidates);
  }

  /** Reports that one of them needs no judging. */
  public void settled() {
    expected.decrementAndGet();
  }

  /** Waits for permission to compile a candidate's kernels, or its C++. */
  public ConcurrencyLimit.Pass compiling(boolean cpp) throws InterruptedException {
    return compiling.enter(cpp);
  }

  /** Asks the shape tracer on the CPU. */
  public <T extends OracleMessage> T askShapeTracer(
      Class<T> expected, IntFunction<? extends OracleMessage> request)
      throws InterruptedException, Oracle.Refused {
    return processes.askShapeTracer(expected, request);
  }

  /** Borrows an oracle for one candidate or task. The caller must hold the GPU, if any. */
  public OraclePool.Borrowed borrow() throws InterruptedException {
    return (gpu == null ? processes.onCpu() : gpu.oracles()).borrow();
  }

  /**
   * A fresh runner on this slot's device, for untimed calls. The caller must hold the GPU, if any.
   *
   * @param greeting of the oracle that the runner will work with
   */
  public Runner runner(Plan plan, Message.Hello greeting) throws InterruptedException {
    Limits limits = plan.limits();
    return gpu == null
        ? zygote().spawn(device, plan.arch(), greeting, limits.allowance(), Runner.Use.CALLED)
        : gpu.runner(use(plan), plan.arch(), greeting, limits);
  }

  /**
   * What untimed calls take. Without timing, nothing else would test what the candidate's streams
   * do concurrently.
   */
  static Runner.Use use(Plan plan) {
    return plan.reaches(Stage.PERF) ? Runner.Use.CALLED : Runner.Use.CALLED_ALONE;
  }

  /**
   * Probes the GPU. A process that is exiting may block it for a while, and one that fills it for
   * as long as it lives.
   */
  public boolean computes() throws InterruptedException {
    for (Duration pause : PAUSES) {
      Thread.sleep(pause);
      try (OraclePool.Borrowed borrowed = borrow()) {
        borrowed.oracle().ask(OracleMessage.Probed.class, OracleMessage.Probe::new, PROBE_LIMIT);
        borrowed.sound();
        return true;
      } catch (Oracle.Refused | WorkerFailure e) {
        // It has ended: the next request starts a new one.
      }
    }
    return false;
  }

  /**
   * Marks the GPU as lost if it does not compute. The caller must hold it exclusively: a process
   * that fills it would make it seem lost.
   */
  public void probe() throws InterruptedException {
    if (gpu != null && !gpu.lost() && !computes()) gpu.lose();
  }

  /** Whether the GPU is lost; probes it if that is unknown. The caller must not hold it. */
  public boolean isLost() throws InterruptedException {
    if (gpu == null || gpu.lost()) return lost();
    try (var _ = gpu.lease().alone()) {
      probe();
    }
    return lost();
  }

  /** Whether the GPU is known to be lost, so that this slot can judge nothing more. */
  public boolean lost() {
    return gpu != null && gpu.lost();
  }
}
