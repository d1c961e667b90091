package dev.kbx.timing;

import static dev.kbx.timing.Defaults.COMPARE_LIMIT;
import static dev.kbx.timing.Defaults.COMPILE_LIMIT;
import static dev.kbx.timing.Defaults.DRIFT;
import static dev.kbx.timing.Defaults.MAX_CALLS;
import static dev.kbx.timing.Defaults.RECHECKS;

import dev.kbx.device.Gpu;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.L2State;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.stats.Ratio;
import dev.kbx.task.Task;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.WorkerFailure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Times {@code torch.compile}d references against eager, in the same rounds as candidates: once for
 * each task in a session.
 *
 * <p>A separate oracle compiles and times: if a compiler hangs or crashes, no verdict is lost. No
 * candidate may use the device meanwhile. Confined to one thread at a time.
 */
final class CompiledBaselines {
  private final Gpu gpu;
  private final BaselineCache kept;
  private final Map<Asked, CompiledTimes> session = new HashMap<>();

  /**
   * A baseline of a task.
   *
   * @param precision what its reference is cast to
   */
  record Asked(Task task, Baseline kind, L2State cache, ModulePrecision precision) {}

  /**
   * @param kept cache of earlier measurements
   */
  CompiledBaselines(Gpu gpu, BaselineCache kept) {
    this.gpu = gpu;
    this.kept = kept;
  }

  /**
   * A task's baseline, measured unless it was in this session. No candidate's process may be alive
   * on the device.
   *
   * @param shapes all benchmark sizes of the task in words, in order
   * @param seed of its inputs, hexadecimal
   */
  CompiledTimes of(Asked asked, List<String> shapes, String seed) throws InterruptedException {
    CompiledTimes known = session.get(asked);
    if (known != null) return known;
    CompiledTimes measured = measure(asked, shapes, seed);
    session.put(asked, measured);
    return measured;
  }

  private CompiledTimes measure(Asked asked, List<String> shapes, String seed)
      throws InterruptedException {
    Task task = asked.task();
    Baseline kind = asked.kind();
    boolean warm = asked.cache() == L2State.WARM;
    try {
      Oracle worker = gpu.baselineOracle();
      Optional<BaselineCache.Key> key = BaselineCache.Key.of(worker.hello(), asked);
      Map<String, CompiledTimes.Size> before =
          key.map(k -> kept.read(k, task, kind)).orElse(Map.of());
      List<CompiledTimes.Size> sizes = new ArrayList<>();
      for (String shape : shapes) {
        String failure = compile(worker, asked, seed, sizes.size());
        if (failure != null) return absent(kind, shape + ": " + failure);
        CompiledTimes.Size old = before.get(shape);
        sizes.add(
            old != null && holds(worker, old, warm)
                ? old
                : measure(worker, shape, warm, new PairedSamples(shapes.size())));
      }
      worker.ask(
          OracleMessage.Closed.class,
          OracleMessage.Close::new,
          COMPARE_LIMIT); // Frees memory for the next task.
      key.ifPresent(k -> kept.write(k, task, kind, sizes));
      return new CompiledTimes(kind, sizes, null);
    } catch (Oracle.Refused e) {
      return absent(kind, e.getMessage());
    } catch (WorkerFailure e) {
      return absent(kind, "compiling was given up: " + e.getMessage());
    }
  }

  /** A compiled kernel that failed may have left a broken CUDA context. */
  private CompiledTimes absent(Baseline kind, @Nullable String why) {
    gpu.resetBaselineOracle();
    return CompiledTimes.absent(kind, why);
  }

  private static @Nullable String compile(Oracle oracle, Asked asked, String seed, int size)
      throws InterruptedException, Oracle.Refused {
    String file = asked.task().file().toAbsolutePath().toString();
    return oracle
        .ask(
            OracleMessage.BaselineCompiled.class,
            id ->
                new OracleMessage.CompileBaseline(
                    id, file, seed, size, asked.kind().label(), asked.precision().dtype()),
            COMPILE_LIMIT)
        .failure();
  }

  /** Whether a few rounds confirm the cached ratio of the size just compiled. */
  private static boolean holds(Oracle oracle, CompiledTimes.Size old, boolean warm)
      throws InterruptedException, Oracle.Refused {
    compare(oracle, 0, warm);
    double sum = 0;
    for (int number = 1; number <= RECHECKS; number++)
      sum += round(compare(oracle, number, warm), number).logRatio();
    double now = Math.exp(sum / RECHECKS);
    Ratio ratio = old.ratio();
    return now >= ratio.low() / (1 + DRIFT) && now <= ratio.high() * (1 + DRIFT);
  }

  private CompiledTimes.Size measure(
      Oracle oracle, String shape, boolean warm, PairedSamples rounds)
      throws InterruptedException, Oracle.Refused {
    DeviceStates conditions = new DeviceStates();
    long begin = oracle.nanoTime();
    compare(oracle, 0, warm); // As with candidates, the first round warms up and does not count.
    for (int number = 1; !rounds.enough((oracle.nanoTime() - begin) / 1e9, false); number++) {
      OracleMessage.BaselineCompared times = compare(oracle, number, warm);
      if (!conditions.spoilt(times.state())) rounds.add(round(times, number));
    }
    rounds.settle();
    return new CompiledTimes.Size(
        shape,
        rounds.referenceMs(),
        rounds.candidateMs(),
        rounds.ratio(),
        rounds.size(),
        kept.now(),
        rounds.raw());
  }

  private static OracleMessage.BaselineCompared compare(Oracle oracle, int number, boolean warm)
      throws InterruptedException, Oracle.Refused {
    return oracle.ask(
        OracleMessage.BaselineCompared.class,
        id ->
            new OracleMessage.CompareBaseline(
                id, MAX_CALLS, number, HostRunAhead.LAUNCHES.flushes(), warm),
        COMPARE_LIMIT);
  }

  private static Round round(OracleMessage.BaselineCompared times, int number) {
    boolean eagerFirst = number % 2 == 0;
    return Round.trusted(times.compiledMs(), times.eagerMs(), eagerFirst);
  }
}
