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
 * The time no kernel can stay below on this device, with room to spare: an honest one never meets
 * it.
 *
 * @param movingMs milliseconds in which memory cannot move what a call reads and writes; 0 where
 *     nothing is known, or the caches hold most of it
 * @param computingMs milliseconds in which the device cannot compute what a call must; 0 where
 *     nothing is known
 * @param emptyMs milliseconds below what two events with nothing between them show; 0 where unknown
 */
record Floor(double movingMs, double computingMs, double emptyMs) {
  /** Any time is possible. */
  static final Floor NONE = new Floor(0, 0, 0);

  /**
   * @param leastBytes what every correct kernel reads and writes in a call, if that is known
   * @param leastFlops what every correct kernel computes in a call, if that is known
   * @param flushBytes what is written before each call, so that the L2 cache is cold
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
   * Of any precision: which of them gives an answer that is right is for the comparison to say, and
   * integers may stand for floating point.
   */
  private static double fastestTflops(PeakRates peaks) {
    return peaks.tflops().values().stream()
        .mapToDouble(Double::doubleValue)
        .max()
        .orElse(Double.POSITIVE_INFINITY);
  }

  /**
   * Evidence, if a candidate's time is below the floor. Where the reference's is too, the counts
   * say nothing.
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
