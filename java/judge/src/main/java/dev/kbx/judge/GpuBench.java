package dev.kbx.judge;

import dev.kbx.device.Gpu;
import dev.kbx.timing.BaselineCache;
import dev.kbx.timing.References;

/** A GPU, what is known of references on it, and its profiler. All slots on the GPU share one. */
record GpuBench(Gpu gpu, References references, Profiler profiler) {
  /**
   * @param baselines compiled baselines that were measured earlier
   */
  static GpuBench of(Gpu gpu, BaselineCache baselines) {
    return new GpuBench(gpu, new References(gpu, baselines), new Profiler(gpu));
  }
}
