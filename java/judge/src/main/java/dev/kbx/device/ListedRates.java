package dev.kbx.device;

import dev.kbx.worker.PeakRates;
import dev.kbx.worker.PeakRates.Precision;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Dense rates of four-bit products as NVIDIA lists them, since PyTorch has no product to measure
 * them by on every device. Nothing is listed where sources disagree, as on the B300 (13 to 15
 * PFLOP/s).
 */
final class ListedRates {
  /**
   * One device.
   *
   * @param name a part of the driver's name for it
   * @param source where the figure is from
   */
  private record Listed(String name, double tflops, String source) {}

  /** The first whose name fits. */
  private static final List<Listed> FP4 =
      List.of(
          new Listed("GB300", 15_000, "GB300 NVL72 data sheet: 1,080 PFLOP/s dense of 72 GPUs"),
          new Listed("GB200", 10_000, "GB200 NVL72 data sheet: 20 PFLOP/s a GPU with sparsity"),
          new Listed("B200", 9_000, "HGX B200 data sheet: 18 PFLOP/s a GPU with sparsity"));

  private ListedRates() {}

  /**
   * Measured peaks, and listed ones that were not measured.
   *
   * @param device the driver's name for it; null if it does not tell
   */
  static PeakRates beside(PeakRates measured, @Nullable String device) {
    if (device == null || measured.tflops().containsKey(Precision.FP4)) return measured;
    for (Listed listed : FP4) {
      if (!device.contains(listed.name())) continue;
      Map<Precision, Double> tflops = new EnumMap<>(Precision.class);
      tflops.putAll(measured.tflops());
      tflops.put(Precision.FP4, listed.tflops());
      return new PeakRates(measured.copyGbs(), measured.emptyMs(), measured.launchMs(), tflops);
    }
    return measured;
  }
}
