package dev.kbx.worker;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Measured peaks of a device; null or absent if not measured.
 *
 * @param copyGbs gigabytes a second of a copy, read and written together
 * @param emptyMs shortest time between two events with nothing between them, milliseconds
 * @param launchMs shortest kernel time, milliseconds
 * @param tflops rates of matrix products
 */
public record PeakRates(
    @Nullable Double copyGbs,
    @Nullable Double emptyMs,
    @Nullable Double launchMs,
    Map<Precision, Double> tflops) {
  /** Nothing is known. */
  public static final PeakRates UNKNOWN = new PeakRates(null, null, null, Map.of());

  /** What matrix products run in. */
  public enum Precision {
    FP64,
    FP32,
    TF32,
    FP16,
    BF16,
    INT8
  }

  public PeakRates {
    Map<Precision, Double> sorted = new EnumMap<>(Precision.class);
    if (tflops != null) sorted.putAll(tflops);
    tflops = Collections.unmodifiableMap(sorted);
  }

  /** TFLOP/s in a precision; null where either is unknown. */
  public @Nullable Double tflops(@Nullable Precision precision) {
    return precision == null ? null : tflops.get(precision);
  }
}
