package dev.kbx.run;

import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import dev.kbx.worker.WorkerFailure;
import dev.kbx.worker.Zygote;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The trusted processes of a run: one zygote for all slots, for each device oracles that several
 * slots share, and with GPUs one oracle more, which says on the CPU what calls look like. Started
 * when first asked for, started again when they have died.
 */
public final class Workers implements AutoCloseable {
  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

  /**
   * Candidates whose kernels are compiled at the same time, each by up to eight processes: with
   * more of them all would be ready late, and the GPUs have nothing to do until then.
   */
  private static final int COMPILING = Math.max(2, PROCESSORS / 8);

  /**
   * Candidates whose C++ is compiled at the same time. It takes minutes and would hold up
   * everybody's kernels; each has two compilers, of up to 2 GiB.
   */
  private static final int COMPILING_CPP = Math.max(2, PROCESSORS / 4);

  private final Path python;
  private final Path home;
  private final PeakCache peaks;
  private final BaselineCache baselines;
  private final BinaryCache binaries;
  private final Consumer<String> notices;
  private final Set<String> noticed = ConcurrentHashMap.newKeySet();
  private final Map<Integer, Gpu> gpus = new HashMap<>();
  private final OraclePool onCpu = new OraclePool(() -> startOracle(DeviceSlot.cpu(0)));
  private final ConcurrencyLimit compiling = new ConcurrencyLimit(COMPILING, "wait compile");
  private final ConcurrencyLimit compilingCpp =
      new ConcurrencyLimit(COMPILING_CPP, "wait compile C++");
  private final AtomicInteger expected = new AtomicInteger(Integer.MAX_VALUE);
  private final Object tracing = new Object();
  private @Nullable Oracle shapeTracer;
  private @Nullable Zygote zygote;
  private volatile boolean closed;

  /**
   * @param python interpreter with torch and triton
   * @param home folder that holds {@code worker/}
   * @param peaks what is known of devices from before
   * @param baselines what is known of compiled references from before
   * @param binaries what candidates were compiled to before
   * @param notices hears, once each, what this machine cannot do of what was asked for
   */
  public Workers(
      Path python,
      Path home,
      PeakCache peaks,
      BaselineCache baselines,
      BinaryCache binaries,
      Consumer<String> notices) {
    this.python = python;
    this.home = home;
    this.peaks = peaks;
    this.baselines = baselines;
    this.binaries = binaries;
    this.notices = notices;
  }

  /** Workers that keep nothing of what candidates are compiled to. */
  public Workers(
      Path python, Path home, PeakCache peaks, BaselineCache baselines, Consumer<String> notices) {
    this(python, home, peaks, baselines, BinaryCache.nowhere(), notices);
  }

  /** The zygote, alive as far as is known. */
  public synchronized Zygote zygote() throws InterruptedException {
    if (closed) throw new WorkerFailure("the workers were closed");
    Zygote current = zygote;
    if (current != null && current.alive()) return current;
    if (current != null) current.close();
    Zygote started = Zygote.start(python, home);
    zygote = started;
    return started;
  }

  /**
   * The oracle that traces the shapes of calls. It asks nothing of a GPU and may be used at any
   * time, by several threads at once.
   */
  private Oracle shapeTracer() throws InterruptedException {
    synchronized (tracing) {
      Oracle current = shapeTracer;
      if (current != null && current.alive()) return current;
      if (current != null) current.close();
      if (closed) throw new WorkerFailure("the workers were closed");
      Oracle started = Oracle.shapeTracer(python, home);
      shapeTracer = started;
      return started;
    }
  }

  /**
   * Asks the oracle that traces shapes. One that fails to answer is ended: the next gets another.
   */
  <T extends OracleMessage> T askShapeTracer(
      Class<T> expected, IntFunction<? extends OracleMessage> request)
      throws InterruptedException, Oracle.Refused {
    Oracle asked = shapeTracer();
    try {
      return asked.ask(expected, request, Session.ORACLE);
    } catch (WorkerFailure e) {
      asked.close();
      throw e;
    }
  }

  /** A new slot. Slots on one GPU share it. */
  public synchronized Slot slot(DeviceSlot device) {
    Gpu gpu =
        device.kind() == DeviceSlot.Kind.CUDA
            ? gpus.computeIfAbsent(device.index(), _ -> new Gpu(this, device))
            : null;
    return new Slot(this, device, gpu);
  }

  /** Starts what the first candidates on GPUs need, beside whatever else is starting. */
  public synchronized void begin() {
    if (gpus.isEmpty()) return;
    inBackground("shape tracer", this::shapeTracer);
    gpus.values().forEach(Gpu::begin);
  }

  /** Readies GPUs for so many candidates, while the first of them are being compiled. */
  private synchronized void ready(Plan plan, int candidates) {
    expected.set(candidates);
    for (Gpu gpu : gpus.values()) inBackground("spares", () -> gpu.ready(plan));
  }

  /** Starts a process. */
  public interface Start {
    void start() throws InterruptedException;
  }

  /** Starts a process while nobody needs it yet; whoever does finds out what is wrong. */
  public static Thread inBackground(String name, Start process) {
    return Thread.ofVirtual()
        .name(name)
        .start(() -> {
          try {
            process.start();
          } catch (WorkerFailure e) {
            System.getLogger("kbx").log(System.Logger.Level.DEBUG, "no " + name, e);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
  }

  /** Where the time of whoever was alone on a GPU went, by the GPU's number. */
  public synchronized Map<Integer, Map<String, Double>> spending() {
    Map<Integer, Map<String, Double>> spent = new TreeMap<>();
    gpus.forEach((index, gpu) -> spent.put(index, gpu.spending().seconds()));
    return spent;
  }

  /** Baselines besides eager as a device has them. */
  CompiledBaselines compiledBaselines(DeviceSlot device) {
    return new CompiledBaselines(
        () -> Oracle.ofBaselines(python, home, device, baselines.compilers()), baselines);
  }

  /** A device as verdicts name it, from what its oracle said. */
  public static Verdict.Device described(Message.Hello hello) {
    Map<String, JsonNode> said = hello.device() == null ? Map.of() : hello.device();
    return new Verdict.Device(
        text(said, "kind", "cpu"),
        text(said, "name", "unknown"),
        optional(said, "uuid"),
        optional(said, "driver"),
        optional(said, "arch"));
  }

  private static String text(Map<String, JsonNode> said, String key, String otherwise) {
    String value = optional(said, key);
    return value == null ? otherwise : value;
  }

  private static @Nullable String optional(Map<String, JsonNode> said, String key) {
    JsonNode value = said.get(key);
    return value == null || value.isNull() ? null : value.asString();
  }

  /** Candidates that are still to be judged on any slot; many, where nobody has said. */
  int expected() {
    return expected.get();
  }

  /** Passes on what was not said before. */
  void notice(String text) {
    if (noticed.add(text)) notices.accept(text);
  }

  PeakCache peaks() {
    return peaks;
  }

  Oracle startOracle(DeviceSlot device) throws InterruptedException {
    if (closed) throw new WorkerFailure("the workers were closed");
    return Oracle.start(python, home, device);
  }

  @Override
  public synchronized void close() {
    closed = true;
    List<Runnable> ends = new ArrayList<>(List.of(onCpu::close, this::endShapeTracer));
    gpus.values().forEach(gpu -> ends.add(gpu::close));
    if (zygote != null) ends.add(zygote::close);
    ends.parallelStream().forEach(Runnable::run); // A context takes a while to go.
    zygote = null;
  }

  private void endShapeTracer() {
    synchronized (tracing) {
      if (shapeTracer != null) shapeTracer.close();
      shapeTracer = null;
    }
  }

  /** One place where one candidate at a time is judged. Used by one thread at a time. */
  public static final class Slot {
    private static final Duration PROBE = Duration.ofSeconds(20);
    private static final List<Duration> PAUSES =
        List.of(Duration.ZERO, Duration.ofSeconds(1), Duration.ofSeconds(3));

    private final Workers workers;
    private final DeviceSlot device;
    private final @Nullable Gpu gpu;

    private Slot(Workers workers, DeviceSlot device, @Nullable Gpu gpu) {
      this.workers = workers;
      this.device = device;
      this.gpu = gpu;
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
     * This slot's own GPU, once its oracle has said which it is: those of one run differ at least
     * in their UUIDs. Empty on the CPU.
     */
    Optional<Verdict.Device> described() {
      return gpu == null ? Optional.empty() : gpu.described();
    }

    /** The GPU that this slot is on, with others; null on the CPU. */
    @Nullable Gpu gpu() {
      return gpu;
    }

    public Zygote zygote() throws InterruptedException {
      return workers.zygote();
    }

    /**
     * Readies the GPUs of this slot and those beside it, which will be given so many candidates.
     */
    void ready(Plan plan, int candidates) {
      workers.ready(plan, candidates);
    }

    /** Says that one of them needs no more. */
    void settled() {
      workers.expected.decrementAndGet();
    }

    /** The right to compile a candidate's kernels, or its C++. */
    ConcurrencyLimit.Pass compiling(boolean cpp) throws InterruptedException {
      return (cpp ? workers.compilingCpp : workers.compiling).enter();
    }

    /** What candidates were compiled to before. */
    BinaryCache binaries() {
      return workers.binaries;
    }

    /** As {@link Workers#askShapeTracer}. */
    <T extends OracleMessage> T askShapeTracer(
        Class<T> expected, IntFunction<? extends OracleMessage> request)
        throws InterruptedException, Oracle.Refused {
      return workers.askShapeTracer(expected, request);
    }

    /** An oracle for one candidate or task. A GPU must be held. */
    OraclePool.Borrowed borrow() throws InterruptedException {
      return gpu == null ? workers.onCpu.borrow() : gpu.oracles().borrow();
    }

    /**
     * A fresh runner on this slot's device, for calls that are not timed. A GPU must be held.
     *
     * @param greeting of the oracle that the runner works with
     */
    Runner runner(Plan plan, Message.Hello greeting) throws InterruptedException {
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
     * Sees whether the GPU computes. A process that is being taken down may hold it for a while,
     * and one that fills it for as long as it lives.
     */
    boolean computes() throws InterruptedException {
      for (Duration pause : PAUSES) {
        Thread.sleep(pause);
        try (OraclePool.Borrowed borrowed = borrow()) {
          borrowed.oracle().ask(OracleMessage.Probed.class, OracleMessage.Probe::new, PROBE);
          borrowed.sound();
          return true;
        } catch (Oracle.Refused | WorkerFailure e) {
          // It was ended: the next one starts from nothing.
        }
      }
      return false;
    }

    /**
     * Marks the GPU as lost if it does not compute. It must be held alone: who fills it would make
     * it look lost.
     */
    void probe() throws InterruptedException {
      if (gpu != null && !gpu.lost() && !computes()) gpu.lose();
    }

    /** Whether the GPU is gone; where nobody knows, it is probed. It must not be held. */
    boolean isLost() throws InterruptedException {
      if (gpu == null || gpu.lost()) return lost();
      try (var _ = gpu.lease().alone()) {
        probe();
      }
      return lost();
    }

    /** Whether the GPU is known to be gone: nothing more can be judged on this slot. */
    boolean lost() {
      return gpu != null && gpu.lost();
    }
  }
}
