package dev.kbx.verdict;

import dev.kbx.verdict.Fields.Doc;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Figures of Nsight Compute for one call at the largest benchmark size. They are measured inside
 * the candidate's sandbox, so they are a claim: neither status nor speedup depends on them.
 *
 * @param kernels longest first; null without figures
 */
public record Profile(
    @Doc("with `--profile`, the size that Nsight Compute looked at") @Nullable String shape,
    @Nullable List<Kernel> kernels,
    @Doc("why there is no profile, in one line") @Nullable String failure) {
  public Profile {
    kernels = kernels == null ? null : List.copyOf(kernels);
    if ((kernels == null) == (failure == null)) {
      throw new IllegalArgumentException("a profile has either kernels or a failure");
    }
  }

  /** A profile without figures. */
  public static Profile failed(String why) {
    return new Profile(null, null, why);
  }

  /**
   * All launches of one kernel, by name. Figures are those of its longest launch, with cold caches;
   * null if unknown.
   */
  public record Kernel(
      @Doc("name of a profiled kernel, the longest first") String kernel,
      @Doc("how many were profiled") int launches,
      @Doc(value = "time of its longest launch on the device", unit = "milliseconds")
          double durationMs,
      @Doc("registers a thread") @Nullable Integer registers,
      @Doc(value = "active warps of a multiprocessor's maximum", unit = "percent")
          @Nullable Double achievedOccupancyPct,
      @Doc(
              value = "limit of occupancy by registers, shared memory and block size",
              unit = "percent")
          @Nullable Double theoreticalOccupancyPct,
      @Doc(value = "traffic of the memory's peak", unit = "percent") @Nullable Double dramPct,
      @Doc(value = "the busiest part of the multiprocessors, of its peak", unit = "percent")
          @Nullable Double smPct,
      @Doc("the most frequent stall reason, by Nsight Compute's name") @Nullable String stall,
      @Doc(value = "its part of a warp's time between two instructions", unit = "percent")
          @Nullable Double stallPct) {}
}
