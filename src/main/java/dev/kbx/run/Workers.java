package dev.kbx.run;

import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.Runner;
import dev.kbx.worker.WorkerFailure;
import dev.kbx.worker.Zygote;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The trusted processes of a run: one zygote for all slots, one oracle for each. Started when first
 * asked for, started again when they have died.
 */
public final class Workers implements AutoCloseable {
  private final Path python;
  private final Path home;
  private final KeptPeaks peaks;
  private final KeptBaselines baselines;
  private final KeptBinaries binaries;
  private final Consumer<String> notices;
  private final Set<String> noticed = ConcurrentHashMap.newKeySet();
  private final Map<Integer, Gpu> gpus = new HashMap<>();
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
      KeptPeaks peaks,
      KeptBaselines baselines,
      KeptBinaries binaries,
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
      Path python, Path home, KeptPeaks peaks, KeptBaselines baselines, Consumer<String> notices) {
    this(python, home, peaks, baselines, KeptBinaries.nowhere(), notices);
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

  /** A new slot; its oracle starts with the first use. Slots on one GPU share it. */
  public synchronized Slot slot(DeviceSlot device) {
    Gpu gpu =
        device.kind() == DeviceSlot.Kind.CUDA
            ? gpus.computeIfAbsent(device.index(), _ -> new Gpu(this, device))
            : null;
    return new Slot(this, device, gpu);
  }

  /** Starts the oracles that time, beside whatever else is starting. */
  public synchronized void begin() {
    gpus.values().forEach(Gpu::begin);
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

  /** Passes on what was not said before. */
  void notice(String text) {
    if (noticed.add(text)) notices.accept(text);
  }

  KeptPeaks peaks() {
    return peaks;
  }

  Oracle startOracle(DeviceSlot device) throws InterruptedException {
    if (closed) throw new WorkerFailure("the workers were closed");
    return Oracle.start(python, home, device);
  }

  @Override
  public synchronized void close() {
    closed = true;
    gpus.values().forEach(Gpu::close);
    if (zygote != null) zygote.close();
    zygote = null;
  }

  /** One place where one candidate at a time is judged. Used by one thread at a time. */
  public static final class Slot implements AutoCloseable {
    private static final Duration PROBE = Duration.ofSeconds(20);
    private static final List<Duration> PAUSES =
        List.of(Duration.ZERO, Duration.ofSeconds(1), Duration.ofSeconds(3));

    private final Workers workers;
    private final DeviceSlot device;
    private final @Nullable Gpu gpu;
    private @Nullable Oracle oracle;
    private Verdict.@Nullable Device described;

    private Slot(Workers workers, DeviceSlot device, @Nullable Gpu gpu) {
      this.workers = workers;
      this.device = device;
      this.gpu = gpu;
    }

    public DeviceSlot device() {
      return device;
    }

    /**
     * This slot's own GPU, once its oracle has said which it is: those of one run differ at least
     * in their UUIDs. Empty on the CPU.
     */
    Optional<Verdict.Device> described() {
      return Optional.ofNullable(described);
    }

    /** The GPU that this slot is on, with others; null on the CPU. */
    @Nullable Gpu gpu() {
      return gpu;
    }

    public Zygote zygote() throws InterruptedException {
      return workers.zygote();
    }

    /** What candidates were compiled to before. */
    KeptBinaries binaries() {
      return workers.binaries;
    }

    public Oracle oracle() throws InterruptedException {
      Oracle current = oracle;
      if (current != null && current.alive()) return current;
      if (current != null) current.close();
      Oracle started = workers.startOracle(device);
      oracle = started;
      if (gpu != null) described = Workers.described(started.hello());
      return started;
    }

    /** A fresh runner on this slot's device. A GPU must be held. */
    Runner runner(Plan plan) throws InterruptedException {
      Message.Hello greeting = oracle().hello();
      Zygote.Allowance allowance = plan.limits().allowance();
      return gpu == null
          ? zygote().spawn(device, plan.arch(), greeting, allowance)
          : gpu.runner(plan.arch(), greeting, allowance);
    }

    /**
     * Sees whether the GPU still computes, and marks it as lost if it does not. A process that is
     * being taken down may hold it for a while. Nobody else may use the GPU: who fills it would
     * make it look lost.
     */
    void probe() throws InterruptedException {
      if (gpu == null) return;
      for (Duration pause : PAUSES) {
        Thread.sleep(pause);
        try {
          oracle().ask(Message.Probed.class, Message.Probe::new, PROBE);
          return;
        } catch (Oracle.Refused | WorkerFailure e) {
          reset();
        }
      }
      gpu.lose();
    }

    /** Whether the GPU is gone: nothing more can be judged on this slot. */
    boolean lost() {
      return gpu != null && gpu.lost();
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
