package dev.kbx.verdict;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How small a difference a device can tell: what {@code kbx bench noise} found when it timed
 * references against themselves.
 *
 * @param device the device it holds for
 * @param versions what it was measured with
 * @param relative what the speedup of a reference against itself stays within in 95 % of
 *     measurements, 0.01 for 1 %: a speedup nearer to 1 is none
 * @param fromMs milliseconds a call from which on it holds; shorter sizes are noisier, and so are
 *     those that wait for the host, whose intervals say how much
 * @param sizes different sizes measured
 * @param rows measurements of them
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

  /** The one of the card with that UUID; null where there is none. */
  public static @Nullable NoiseFloor of(@Nullable String uuid, List<NoiseFloor> floors) {
    return floors.stream()
        .filter(floor -> uuid != null && uuid.equals(floor.device().uuid()))
        .findFirst()
        .orElse(null);
  }

  /**
   * The smallest relative difference between two measured speedups that can be told, 0.01 for 1 %:
   * both have this noise, independently of one another.
   */
  public double ofTwo() {
    return Math.expm1(Math.sqrt(2) * Math.log1p(relative));
  }
}
