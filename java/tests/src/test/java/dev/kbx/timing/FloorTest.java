package dev.kbx.timing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.worker.PeakRates;
import dev.kbx.worker.PeakRates.Precision;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Below which times no kernel can be. */
class FloorTest {
  @ParameterizedTest
  @CsvSource({
    "0.30, 1.0, true",
    "0.41, 1.0, false",
    "0.30, 0.35, false",
  })
  void floorAppliesIfTheReferenceIsAboveIt(double candidate, double reference, boolean broken) {
    Floor floor =
        Floor.of(new PeakRates(1000.0, null, null, Map.of()), 1_000_000_000L, null, 100_000_000);
    assertThat(floor.broken(candidate, reference).isPresent()).isEqualTo(broken);
  }

  @ParameterizedTest
  @CsvSource({
    "0.49, 2.0, true",
    "0.51, 2.0, false",
    "0.49, 0.49, false",
  })
  void productFloorIsHalfTheFastestMeasuredTime(
      double candidate, double reference, boolean broken) {
    var peaks =
        new PeakRates(1000.0, null, null, Map.of(Precision.FP32, 50.0, Precision.INT8, 1000.0));
    Floor floor = Floor.of(peaks, null, 1_000_000_000_000L, 100_000_000);
    assertThat(floor.broken(candidate, reference).isPresent()).isEqualTo(broken);
  }

  @Test
  void productFloorNeedsAMeasuredRate() {
    Floor floor =
        Floor.of(
            new PeakRates(1000.0, null, null, Map.of()), null, 1_000_000_000_000L, 100_000_000);
    assertThat(floor.computingMs()).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 4096, 200_000_000})
  void dataThatFitsTheCacheHasNoFloor(long bytes) {
    Floor floor = Floor.of(new PeakRates(1000.0, null, null, Map.of()), bytes, null, 100_000_000);
    assertThat(floor.movingMs()).isZero();
  }
}
