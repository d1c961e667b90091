package dev.kbx.timing;

import dev.kbx.verdict.Verdict.Bound;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.PeakRates;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The time of an ideal kernel: moves each byte once at the device's copy bandwidth, or runs its
 * products at the device's peak rate, whichever takes longer.
 *
 * @param ms milliseconds, above 0
 */
record SpeedOfLight(double ms, Bound bound) {

  /** Empty if the reference's work, or the device's rates, are not fully known. */
  static Optional<SpeedOfLight> of(OracleMessage.PreparedSize size, PeakRates peaks) {
    Double copyGbs = peaks.copyGbs();
    Long bytes = size.bytes();
    if (!size.counted() || bytes == null || copyGbs == null) return Optional.empty();
    double moving = bytes / copyGbs / 1e6;
    double computing = 0;
    if (size.flops() != null) {
      Double tflops = peaks.tflops(size.precision());
      if (tflops == null) return Optional.empty();
      computing = size.flops() / tflops / 1e9;
    }
    double ms = Math.max(moving, computing);
    if (!(ms > 0)) return Optional.empty();
    Double launchMs = peaks.launchMs();
    boolean launch = launchMs != null && ms < launchMs;
    Bound bound = computing > moving ? Bound.COMPUTE : Bound.MEMORY;
    return Optional.of(new SpeedOfLight(ms, launch ? Bound.LAUNCH : bound));
  }

  /**
   * 1 / (1 + (t − t_sol) / (t_base − t_sol)). A time below t_sol, which caches or a faster
   * algorithm can give, scores 1. Null where the baseline itself is not slower than t_sol.
   */
  @Nullable Double score(double candidateMs, double baselineMs) {
    if (baselineMs <= ms) return null;
    return 1 / (1 + Math.max(0, candidateMs - ms) / (baselineMs - ms));
  }
}
