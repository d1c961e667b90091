package dev.kbx.prompt;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Peaks that were measured on a device.
 *
 * @param copyGbs 10⁹ bytes a second of a copy, read and written together; null if not measured
 * @param tflops 10¹² operations a second of matrix products, by precision: {@code fp32, tf32, …}
 */
public record MeasuredPeaks(@Nullable Double copyGbs, SortedMap<String, Double> tflops) {
  /** Nothing was measured. */
  public static final MeasuredPeaks NONE = new MeasuredPeaks(null, new TreeMap<>());

  public MeasuredPeaks {
    tflops = Collections.unmodifiableSortedMap(new TreeMap<>(tflops));
  }

  /** Peaks in any kind of map. */
  public static MeasuredPeaks of(@Nullable Double copyGbs, Map<String, Double> tflops) {
    return new MeasuredPeaks(copyGbs, new TreeMap<>(tflops));
  }
}
