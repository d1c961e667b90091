package dev.kbx.verdict;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Noise floor of a device: the smallest difference that it can tell, measured by {@code kbx bench
 * noise}, which times references against themselves.
 *
 * @param device the device
 * @param versions software versions of the measurement
 * @param relative bound of |speedup − 1| of a reference against itself in 95 % of measurements,
 *     0.01 for 1 %
 * @param fromMs minimum milliseconds of a call for which it holds; shorter and host-bound sizes are
 *     noisier, as their intervals show
 * @param sizes number of different sizes measured
 * @param rows number of measurements
 */
public record NoiseFloor(
    Verdict.Device device,
    Map<String, String> versions,
    Instant measured,
    double relative,
    double fromMs,
    int sizes,
    int rows) {
  public NoiseFloor {
    versions = Map.copyOf(versions);
    if (!(relative >= 0 && relative < Double.MAX_VALUE)) {
      throw new IllegalArgumentException("not a noise floor: " + relative);
    }
  }

  /** The noise floor of the GPU with that UUID; null if there is none. */
  public static @Nullable NoiseFloor of(@Nullable String uuid, List<NoiseFloor> floors) {
    return floors.stream()
        .filter(floor -> uuid != null && uuid.equals(floor.device().uuid()))
        .findFirst()
        .orElse(null);
  }

  /**
   * The smallest relative difference between two measured speedups that can be told, 0.01 for 1 %;
   * both have this noise, independently.
   */
  public double ofTwo() {
    return Math.expm1(Math.sqrt(2) * Math.log1p(relative));
  }
}
