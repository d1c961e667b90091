package dev.kbx.worker;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Peaks of a device, measured where nothing else is said; null or absent if not known.
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
    INT8,
    FP8,
    FP4
  }

  public PeakRates {
    Map<Precision, Double> sorted = new EnumMap<>(Precision.class);
    if (tflops != null) sorted.putAll(tflops);
    tflops = Collections.unmodifiableMap(sorted);
  }

  /**
   * TFLOP/s in a precision; null where either is unknown. Where the device has no products of four
   * or eight bits, those of the next wider numbers, which hold their values exactly.
   */
  public @Nullable Double tflops(@Nullable Precision precision) {
    if (precision == null) return null;
    Double own = tflops.get(precision);
    if (own != null) return own;
    return switch (precision) {
      case FP4 -> tflops(Precision.FP8);
      case FP8 -> tflops(Precision.FP16);
      case FP64, FP32, TF32, FP16, BF16, INT8 -> null;
    };
  }
}
