package dev.kbx.verdict;

import java.time.Instant;
import java.util.Map;

/**
 * How small a difference a device can tell: what {@code kbx bench noise} found when it timed
 * references against themselves.
 *
 * @param device the device it holds for
 * @param versions what it was measured with
 * @param relative 95th percentile of |log speedup| of a reference against itself: differences of
 *     speedups below {@code exp(relative)} are no differences
 * @param fromMs milliseconds a call from which on it holds; shorter sizes are noisier
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

  /** Whether a ratio of two speedups that were both measured on this device is beyond its noise. */
  public boolean tells(double ratio) {
    return Math.abs(Math.log(ratio)) > relative;
  }
}
