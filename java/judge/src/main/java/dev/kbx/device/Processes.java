package dev.kbx.device;

import dev.kbx.plan.Limits;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleHost;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.WorkerFailure;
import dev.kbx.worker.Zygote;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/** The processes that all slots of this machine share: the zygote, and the oracles on the CPU. */
final class Processes implements AutoCloseable {
  private final OracleHost oracles;
  private final Path compilers;
  private final Consumer<String> notices;
  private final Set<String> noticed = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean zygoteStarted = new AtomicBoolean();
  private final AtomicReference<List<String>> forZygote = new AtomicReference<>(List.of());
  private final AtomicReference<List<String>> forOracle = new AtomicReference<>(List.of());
  private final OnDemand<Zygote> zygote;
  private final OnDemand<Oracle> shapeTracer;
  private final OraclePool onCpu = new OraclePool(() -> oracle(DeviceSlot.cpu(0)));

  /**
   * @param oracles what oracles, and the zygote, are started with
   * @param compilers folder for the compiler caches of baselines
   * @param notices receives one line for each requested feature that this machine lacks, once each
   */
  Processes(OracleHost oracles, Path compilers, Consumer<String> notices) {
    this.oracles = oracles;
    this.compilers = compilers;
    this.notices = notices;
    this.zygote = new OnDemand<>(this::startZygote, Zygote::alive, Zygote::close);
    this.shapeTracer =
        new OnDemand<>(() -> Oracle.shapeTracer(oracles), Oracle::alive, Oracle::close);
  }

  /**
   * Has the zygote and the first oracle on the CPU, which are started next, import torch once for
   * both. Without effect if the zygote has been started.
   */
  void shareImport() {
    if (oracles.confinedTo() != null || zygoteStarted.getAndSet(true)) return;
    List<String> shared = List.of("--share-import", "kbx-" + UUID.randomUUID());
    forZygote.set(shared);
    forOracle.set(shared);
  }

  private Zygote startZygote() throws InterruptedException {
    zygoteStarted.set(true);
    List<String> shared = forZygote.getAndSet(List.of());
    try {
      return Zygote.start(oracles.python(), oracles.home(), oracles.clock(), notices, shared);
    } finally {
      forOracle.set(List.of()); // Whoever comes now is too late.
    }
  }

  /** The zygote; restarted if it has ended. */
  Zygote zygote() throws InterruptedException {
    return zygote.get();
  }

  /** Starts an oracle on a device. */
  Oracle oracle(DeviceSlot device) throws InterruptedException {
    return device.kind() == DeviceSlot.Kind.CPU
        ? Oracle.start(oracles, device, forOracle.getAndSet(List.of()))
        : Oracle.start(oracles, device);
  }

  /** Starts an oracle on a GPU that will not time. */
  Oracle untimedOracle(DeviceSlot device) throws InterruptedException {
    return Oracle.replaying(oracles, device);
  }

  /** Starts an oracle that compiles references and times them. */
  Oracle baselineOracle(DeviceSlot device) throws InterruptedException {
    return Oracle.ofBaselines(oracles, device, compilers);
  }

  /** The oracles of the CPU. */
  OraclePool onCpu() {
    return onCpu;
  }

  /** Starts the shape tracer unless it is running. */
  void startShapeTracer() throws InterruptedException {
    var _ = shapeTracer.get();
  }

  /**
   * Asks the shape tracer, an oracle on the CPU. It needs no GPU and serves several threads at
   * once. If it fails to answer it is ended, and the next request starts a new one.
   */
  <T extends OracleMessage> T askShapeTracer(
      Class<T> expected, IntFunction<? extends OracleMessage> request)
      throws InterruptedException, Oracle.Refused {
    Oracle asked = shapeTracer.get();
    try {
      return asked.ask(expected, request, Limits.ORACLE);
    } catch (WorkerFailure e) {
      asked.close();
      throw e;
    }
  }

  /** Passes on a notice, once. */
  void notice(String text) {
    if (noticed.add(text)) notices.accept(text);
  }

  @Override
  public void close() {
    List.<Runnable>of(onCpu::close, shapeTracer::close, zygote::close).parallelStream()
        .forEach(Runnable::run); // A process with torch takes a while to exit.
  }

  /** Starts a process. */
  interface Start {
    void start() throws InterruptedException;
  }

  /**
   * Starts a process in the background. A failure is ignored here; the first real use reports it.
   */
  static Thread inBackground(String name, Start process) {
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
}
