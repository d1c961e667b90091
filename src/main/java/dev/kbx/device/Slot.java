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
import dev.kbx.worker.Runner;
import dev.kbx.worker.WorkerFailure;
import dev.kbx.worker.Zygote;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** One place where one candidate at a time is judged. Used by one thread at a time. */
public final class Slot {
  private static final List<Duration> PAUSES =
      List.of(Duration.ZERO, Duration.ofSeconds(1), Duration.ofSeconds(3));

  private final Processes processes;
  private final DeviceSlot device;
  private final @Nullable Gpu gpu;
  private final CompileLimits compiling;
  private final AtomicInteger expected;

  /**
   * @param gpu of this slot, with others; null on the CPU
   * @param expected candidates that are still to be judged on any slot
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

  /** What an oracle of this slot's device says of itself; one is started if need be. */
  public Message.Hello greeting() throws InterruptedException {
    if (gpu != null) return gpu.greeting();
    try (OraclePool.Borrowed borrowed = borrow()) {
      borrowed.sound();
      return borrowed.oracle().hello();
    }
  }

  /**
   * This slot's own GPU, once its oracle has said which it is: those of one run differ at least in
   * their UUIDs. Empty on the CPU.
   */
  public Optional<Verdict.Device> described() {
    return gpu == null ? Optional.empty() : gpu.described();
  }

  /** The GPU that this slot is on, with others; null on the CPU. */
  public @Nullable Gpu gpu() {
    return gpu;
  }

  public Zygote zygote() throws InterruptedException {
    return processes.zygote();
  }

  /** Says how many candidates this slot and those beside it will be given. */
  public void expect(int candidates) {
    expected.set(candidates);
  }

  /** Says that one of them needs no more. */
  public void settled() {
    expected.decrementAndGet();
  }

  /** The right to compile a candidate's kernels, or its C++. */
  public ConcurrencyLimit.Pass compiling(boolean cpp) throws InterruptedException {
    return compiling.enter(cpp);
  }

  /** Asks an oracle on the CPU what calls look like. */
  public <T extends OracleMessage> T askShapeTracer(
      Class<T> expected, IntFunction<? extends OracleMessage> request)
      throws InterruptedException, Oracle.Refused {
    return processes.askShapeTracer(expected, request);
  }

  /** An oracle for one candidate or task. A GPU must be held. */
  public OraclePool.Borrowed borrow() throws InterruptedException {
    return (gpu == null ? processes.onCpu() : gpu.oracles()).borrow();
  }

  /**
   * A fresh runner on this slot's device, for calls that are not timed. A GPU must be held.
   *
   * @param greeting of the oracle that the runner works with
   */
  public Runner runner(Plan plan, Message.Hello greeting) throws InterruptedException {
    Limits limits = plan.limits();
    return gpu == null
        ? zygote().spawn(device, plan.arch(), greeting, limits.allowance(), false)
        : gpu.runner(use(plan), plan.arch(), greeting, limits);
  }

  /** Without timing nobody else would see what several streams of a candidate do side by side. */
  private static WarmRunnerPool.Use use(Plan plan) {
    return plan.reaches(Stage.PERF) ? WarmRunnerPool.Use.CALLED : WarmRunnerPool.Use.TIMED;
  }

  /**
   * Sees whether the GPU computes. A process that is being taken down may hold it for a while, and
   * one that fills it for as long as it lives.
   */
  public boolean computes() throws InterruptedException {
    for (Duration pause : PAUSES) {
      Thread.sleep(pause);
      try (OraclePool.Borrowed borrowed = borrow()) {
        borrowed.oracle().ask(OracleMessage.Probed.class, OracleMessage.Probe::new, PROBE_LIMIT);
        borrowed.sound();
        return true;
      } catch (Oracle.Refused | WorkerFailure e) {
        // It was ended: the next one starts from nothing.
      }
    }
    return false;
  }

  /**
   * Marks the GPU as lost if it does not compute. It must be held alone: who fills it would make it
   * look lost.
   */
  public void probe() throws InterruptedException {
    if (gpu != null && !gpu.lost() && !computes()) gpu.lose();
  }

  /** Whether the GPU is gone; where nobody knows, it is probed. It must not be held. */
  public boolean isLost() throws InterruptedException {
    if (gpu == null || gpu.lost()) return lost();
    try (var _ = gpu.lease().alone()) {
      probe();
    }
    return lost();
  }

  /** Whether the GPU is known to be gone: nothing more can be judged on this slot. */
  public boolean lost() {
    return gpu != null && gpu.lost();
  }
}
