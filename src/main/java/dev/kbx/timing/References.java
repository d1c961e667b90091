package dev.kbx.timing;

import dev.kbx.device.Gpu;
import dev.kbx.task.Task;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is known of references on one GPU, found out once in a session: how long they take while no
 * candidate's code runs, what {@code torch.compile} makes of them, and of which there can be no
 * CUDA graphs. For whoever holds the GPU alone.
 */
public final class References {
  private final Gpu gpu;
  private final CompiledBaselines compiled;
  private final Map<Path, List<BaselineInterference.Times>> quiet = new HashMap<>();
  private final Set<Sized> unrecordable = new HashSet<>();

  private record Sized(Path task, int size) {}

  /**
   * @param kept compiled baselines from before
   */
  public References(Gpu gpu, BaselineCache kept) {
    this.gpu = gpu;
    this.compiled = new CompiledBaselines(gpu, kept);
  }

  /**
   * The reference's times on each size of the task that is open, measured once. No candidate's code
   * may be loaded on this device.
   */
  public List<BaselineInterference.Times> quiet(
      Task task, List<OracleMessage.Size> sizes, boolean warm)
      throws InterruptedException, Oracle.Refused {
    List<BaselineInterference.Times> known = quiet.get(task.file());
    if (known != null) return known;
    List<BaselineInterference.Times> measured =
        BaselineInterference.measure(gpu.oracle(), sizes, warm);
    quiet.put(task.file(), measured);
    return measured;
  }

  /** Whether a CUDA graph of the reference on this size is worth a try. */
  boolean recordable(Path task, int size) {
    return !unrecordable.contains(new Sized(task, size));
  }

  /** There can be none. */
  void unrecordable(Path task, int size) {
    unrecordable.add(new Sized(task, size));
  }

  /** Baselines besides eager. */
  public CompiledBaselines compiled() {
    return compiled;
  }
}
