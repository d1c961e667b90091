package dev.kbx.judge;

import dev.kbx.device.Gpu;
import dev.kbx.timing.BaselineCache;
import dev.kbx.timing.References;

/**
 * A GPU with what timing has found out about references there, and its profiler; all slots on the
 * GPU share them.
 */
record GpuBench(Gpu gpu, References references, Profiler profiler) {
  /**
   * @param baselines what is known of compiled references from before
   */
  static GpuBench of(Gpu gpu, BaselineCache baselines) {
    return new GpuBench(gpu, new References(gpu, baselines), new Profiler(gpu));
  }
}
