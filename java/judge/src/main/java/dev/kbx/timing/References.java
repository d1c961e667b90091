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
 * What is known of references on one GPU, each measured once in a session: their times without any
 * candidate's code, their {@code torch.compile}d times, and which of them cannot be recorded as
 * CUDA graphs. Requires the GPU to be held exclusively.
 */
public final class References {
  private final Gpu gpu;
  private final CompiledBaselines compiled;
  private final Map<Path, List<BaselineInterference.Times>> quiet = new HashMap<>();
  private final Set<Sized> unrecordable = new HashSet<>();

  private record Sized(Path task, int size) {}

  /**
   * @param kept cache of compiled baselines
   */
  public References(Gpu gpu, BaselineCache kept) {
    this.gpu = gpu;
    this.compiled = new CompiledBaselines(gpu, kept);
  }

  /**
   * Times of the reference on each size of the open task, measured once. No candidate's code may be
   * loaded on this device.
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

  /** Whether to try a CUDA graph of the reference on this size. */
  boolean recordable(Path task, int size) {
    return !unrecordable.contains(new Sized(task, size));
  }

  /** Records that there is no CUDA graph of the reference on this size. */
  void unrecordable(Path task, int size) {
    unrecordable.add(new Sized(task, size));
  }

  /** The baselines besides eager. */
  public CompiledBaselines compiled() {
    return compiled;
  }
}
