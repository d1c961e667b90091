package dev.kbx.device;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.worker.PeakRates;
import dev.kbx.worker.PeakRates.Precision;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ListedRatesTest {
  private static final PeakRates MEASURED =
      new PeakRates(4000.0, 0.002, 0.003, Map.of(Precision.FP16, 800.0, Precision.FP8, 1500.0));

  @ParameterizedTest
  @CsvSource({
    "NVIDIA B200, 9000",
    "NVIDIA GB200, 10000",
    "NVIDIA GB300, 15000",
    // Not listed: its eight-bit products are its best.
    "NVIDIA B300 SXM6 AC, 1500",
    "NVIDIA H200, 1500",
    ", 1500",
  })
  void fourBitProductsAreListed(@Nullable String device, double tflops) {
    PeakRates peaks = ListedRates.beside(MEASURED, device);
    assertThat(peaks.tflops(Precision.FP4)).isEqualTo(tflops);
    assertThat(peaks.tflops(Precision.FP8)).isEqualTo(1500);
    assertThat(peaks.copyGbs()).isEqualTo(4000);
  }

  @Test
  void whatWasMeasuredIsKept() {
    PeakRates measured = new PeakRates(null, null, null, Map.of(Precision.FP4, 7_000.0));
    assertThat(ListedRates.beside(measured, "NVIDIA B200")).isEqualTo(measured);
  }
}
