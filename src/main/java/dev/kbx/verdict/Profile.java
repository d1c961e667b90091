package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Figures of Nsight Compute for one call at the largest benchmark size. They are measured inside
 * the candidate's sandbox, so they are a claim: neither status nor speedup depends on them.
 *
 * @param shape the size in words, as the task names it; null if nothing was profiled
 * @param kernels longest first; null without figures
 * @param failure why there are no figures, in one line; null if there are
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Profile(
    @Nullable String shape, @Nullable List<Kernel> kernels, @Nullable String failure) {
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
   *
   * @param launches number of profiled launches of that name
   * @param durationMs time on the device, milliseconds
   * @param registers registers a thread
   * @param achievedOccupancyPct active warps, percent of a multiprocessor's maximum
   * @param theoreticalOccupancyPct limit by registers, shared memory and block size, percent
   * @param dramPct traffic, percent of the memory's peak
   * @param smPct the busiest part of the multiprocessors, percent of its peak
   * @param stall the most frequent stall reason, by Nsight Compute's name
   * @param stallPct its part of a warp's time between two instructions, percent
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Kernel(
      String kernel,
      int launches,
      double durationMs,
      @Nullable Integer registers,
      @Nullable Double achievedOccupancyPct,
      @Nullable Double theoreticalOccupancyPct,
      @Nullable Double dramPct,
      @Nullable Double smPct,
      @Nullable String stall,
      @Nullable Double stallPct) {}
}
