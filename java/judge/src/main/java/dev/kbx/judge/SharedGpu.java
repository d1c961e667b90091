package dev.kbx.judge;

import dev.kbx.device.Gpu;
import dev.kbx.timing.BaselineCache;
import dev.kbx.timing.References;

/** A GPU, what is known of references on it, and its profiler. All slots on the GPU share one. */
record SharedGpu(Gpu gpu, References references, Profiler profiler) {
  /**
   * @param baselines compiled baselines that were measured earlier
   */
  static SharedGpu of(Gpu gpu, BaselineCache baselines) {
    return new SharedGpu(gpu, new References(gpu, baselines), new Profiler(gpu));
  }
}
