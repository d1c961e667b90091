package dev.kbx.timing;

import static dev.kbx.timing.Defaults.CACHES;
import static dev.kbx.timing.Defaults.COMPUTING_SLACK;
import static dev.kbx.timing.Defaults.EMPTY_SLACK;
import static dev.kbx.timing.Defaults.FLUSHED_CACHES;
import static dev.kbx.timing.Defaults.MEMORY_SLACK;

import dev.kbx.worker.PeakRates;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The shortest possible time of a kernel on this device, with a margin that no honest kernel needs.
 *
 * @param movingMs lower bound in milliseconds from memory traffic; 0 if unknown, or if the caches
 *     hold most of it
 * @param computingMs lower bound in milliseconds from arithmetic; 0 if unknown
 * @param emptyMs lower bound in milliseconds from two events with nothing between them; 0 if
 *     unknown
 */
record Floor(double movingMs, double computingMs, double emptyMs) {
  /** No lower bound. */
  static final Floor NONE = new Floor(0, 0, 0);

  /**
   * @param leastBytes bytes that every correct kernel reads and writes in a call; null if unknown
   * @param leastFlops flops that every correct kernel computes in a call; null if unknown
   * @param flushBytes bytes written before each call to flush the L2 cache
   */
  static Floor of(
      PeakRates peaks, @Nullable Long leastBytes, @Nullable Long leastFlops, long flushBytes) {
    Double known = peaks.copyGbs();
    double copyGbs = known == null ? Double.POSITIVE_INFINITY : known;
    long moved = leastBytes == null ? 0 : leastBytes;
    boolean large = flushBytes > 0 && moved > CACHES / FLUSHED_CACHES * flushBytes;
    double moving = large ? moved / copyGbs / 1e6 / MEMORY_SLACK : 0;
    long computed = leastFlops == null ? 0 : leastFlops;
    double computing = computed / fastestTflops(peaks) / 1e9 / COMPUTING_SLACK;
    Double emptyMs = peaks.emptyMs();
    return new Floor(moving, computing, emptyMs == null ? 0 : emptyMs / EMPTY_SLACK);
  }

  /**
   * The fastest rate of any precision: the comparison of values decides which precision suffices,
   * and integers may replace floating point.
   */
  private static double fastestTflops(PeakRates peaks) {
    return peaks.tflops().values().stream()
        .mapToDouble(Double::doubleValue)
        .max()
        .orElse(Double.POSITIVE_INFINITY);
  }

  /**
   * Evidence if the candidate's time is below the floor. None if the reference's is, too: then the
   * counts are wrong.
   */
  Optional<String> broken(double candidateMs, double referenceMs) {
    if (candidateMs < emptyMs) {
      return Optional.of(
          "timing: %.5f ms a call, where launching nothing at all takes over %.5f ms"
              .formatted(candidateMs, emptyMs));
    }
    if (candidateMs < movingMs && referenceMs >= movingMs) {
      return Optional.of(
          "timing: %.5f ms a call, where memory cannot move the data in %.5f ms"
              .formatted(candidateMs, movingMs));
    }
    if (candidateMs < computingMs && referenceMs >= computingMs) {
      return Optional.of(
          "timing: %.5f ms a call, where this device cannot compute the product in %.5f ms"
              .formatted(candidateMs, computingMs));
    }
    return Optional.empty();
  }
}
