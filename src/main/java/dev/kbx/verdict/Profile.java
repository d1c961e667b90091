package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What Nsight Compute says of one call at the largest benchmark size. It was measured inside the
 * candidate's own sandbox and is a claim: neither status nor speedup rests on it.
 *
 * @param shape the size in words, as the task names it; null where nothing was profiled
 * @param kernels those that took most time, first; null where there are no figures
 * @param failure why there are no figures, in one line; null where there are
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

  /** No figures. */
  public static Profile failed(String why) {
    return new Profile(null, null, why);
  }

  /**
   * All launches of one kernel, by name. Figures are those of its longest launch, with cold caches;
   * null what is not known.
   *
   * @param launches how many of that name were profiled
   * @param durationMs time on the device, milliseconds
   * @param registers of a thread
   * @param achievedOccupancyPct warps that were there, percent of what a multiprocessor holds
   * @param theoreticalOccupancyPct what its registers, shared memory and block size allow, percent
   * @param dramPct traffic, percent of the memory's peak
   * @param smPct the busiest part of the multiprocessors, percent of its peak
   * @param stall what its warps mostly waited for, by Nsight Compute's name
   * @param stallPct part of a warp's time between two instructions that went to that, percent
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
