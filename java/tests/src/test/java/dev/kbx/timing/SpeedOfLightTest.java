package dev.kbx.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.verdict.Verdict.Bound;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.PeakRates;
import dev.kbx.worker.PeakRates.Precision;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpeedOfLightTest {
  private static final PeakRates PEAKS =
      new PeakRates(2000.0, null, 0.003, Map.of(Precision.FP32, 50.0, Precision.FP16, 800.0));

  private static OracleMessage.PreparedSize size(
      @Nullable Long bytes,
      @Nullable Long flops,
      @Nullable Precision precision,
      String... uncounted) {
    return new OracleMessage.PreparedSize(
        1, 0, bytes, flops, precision, null, null, List.of(uncounted), null, false);
  }

  private static Optional<SpeedOfLight> of(OracleMessage.PreparedSize size) {
    return SpeedOfLight.of(size, PEAKS);
  }

  @ParameterizedTest
  @CsvSource({
    // 2 GB at 2000 GB/s
    "2000000000,           , , 1, MEMORY",
    "2000000000, 2000000000, FP32, 1, MEMORY",
    // 100 Gflop at 50 Tflop/s, at 800 Tflop/s
    "2000000000, 100000000000, FP32, 2, COMPUTE",
    "200000000, 100000000000, FP16, 0.125, COMPUTE",
    // Without products of so few bits, at the rate of the next wider numbers
    "200000000, 100000000000, FP8, 0.125, COMPUTE",
    "200000000, 100000000000, FP4, 0.125, COMPUTE",
    // Less than any kernel takes
    "4000000,,, 0.002, LAUNCH",
    "4096, 1000000, FP32, 0.00002, LAUNCH",
  })
  void timeIsTheLongerOfMovingAndComputing(
      Long bytes, @Nullable Long flops, @Nullable Precision precision, double ms, Bound bound) {
    SpeedOfLight light = of(size(bytes, flops, precision)).orElseThrow();
    assertThat(light.ms()).isCloseTo(ms, within(1e-9));
    assertThat(light.bound()).isEqualTo(bound);
  }

  @Test
  void missingFigureMakesSpeedOfLightUnknown() {
    assertThat(of(size(null, 1_000_000L, Precision.FP32))).isEmpty();
    assertThat(of(size(1_000_000L, 1_000_000L, null))).isEmpty();
    assertThat(of(size(1_000_000L, 1_000_000L, Precision.FP64))).isEmpty();
    assertThat(of(size(1_000_000L, null, null, "linalg_eig"))).isEmpty();
    assertThat(of(size(0L, null, null))).isEmpty();
    assertThat(SpeedOfLight.of(size(1_000_000L, null, null), PeakRates.UNKNOWN)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "1.0, 3.0, 1.0",
    "3.0, 3.0, 0.5",
    "2.0, 3.0, 0.66666666667",
    "7.0, 3.0, 0.25",
    // A cache may hold what was counted as moved.
    "0.9, 3.0, 1.0",
  })
  void scoreIsOneAtSpeedOfLightAndHalfAtBaseline(double candidate, double baseline, double score) {
    var light = new SpeedOfLight(1.0, Bound.MEMORY);
    assertThat(light.score(candidate, baseline)).isCloseTo(score, within(1e-9));
  }

  @ParameterizedTest
  @CsvSource({"1.0", "0.8"})
  void baselineAtSpeedOfLightHasNoScore(double baseline) {
    assertThat(new SpeedOfLight(1.0, Bound.MEMORY).score(0.9, baseline)).isNull();
  }
}
