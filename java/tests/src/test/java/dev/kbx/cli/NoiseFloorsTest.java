package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.app.NoiseFloors;
import dev.kbx.app.Observer;
import dev.kbx.error.InputException;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NoiseFloorsTest {
  private static final String UUID = "GPU-5bd02c7a-91e4-4d0c";

  @TempDir private Path folder;

  private static NoiseFloor floor(String uuid, double relative) {
    return new NoiseFloor(
        new Verdict.Device("cuda", "NVIDIA H200", uuid, "580.95.05", "sm_90"),
        Map.of("torch", "2.11.0"),
        Instant.parse("2026-11-22T03:00:00Z"),
        relative,
        0.05,
        400,
        401);
  }

  @Test
  void theNewestFloorOfADeviceIsKept() throws Exception {
    NoiseFloors floors = new NoiseFloors(folder.resolve("noise"), Observer.SILENT);
    assertThat(floors.of(UUID)).isEmpty();
    floors.keep(floor(UUID, 0.01));
    NoiseFloor newer = floor(UUID, 0.004);
    floors.keep(newer);
    assertThat(floors.of(UUID)).contains(newer);
    assertThat(floors.of("GPU-other")).isEmpty();
    assertThat(floors.of(null)).isEmpty();
    try (var files = Files.list(folder.resolve("noise"))) {
      assertThat(files).hasSize(1);
    }
  }

  @Test
  void unusableFolderIsAOneLineError() throws Exception {
    Path file = Files.createFile(folder.resolve("no-folder"));
    assertThatExceptionOfType(InputException.class)
        .isThrownBy(() -> new NoiseFloors(file, Observer.SILENT).keep(floor(UUID, 0.01)))
        .withMessageContaining("no-folder");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "[]", "null", "{}", "{\"relative\":-1}", "{\"relative\":0.1}"})
  void damagedFileGivesNoFloor(String content) throws Exception {
    Files.createDirectories(folder.resolve("noise"));
    Files.writeString(folder.resolve("noise").resolve(UUID + ".json"), content);
    assertThat(new NoiseFloors(folder.resolve("noise"), Observer.SILENT).of(UUID)).isEmpty();
  }

  @Test
  void noiseOfTwoSpeedupsAddsUp() {
    assertThat(floor(UUID, 0.01).ofTwo()).isCloseTo(0.01417, within(1e-5));
    assertThat(floor(UUID, 0).ofTwo()).isZero();
  }

  @Test
  void noiseBenchWithoutGpuIsRefused() throws Exception {
    Kbx.Result result = Kbx.run(folder, "bench", "noise", "--device", "cpu");
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).hasLineCount(1).contains("no GPU", "nothing to time");
    Kbx.Result none = Kbx.run(folder, "bench", "noise", "--repeats", "0", "--twins", "0");
    assertThat(none.exit()).isEqualTo(1);
    assertThat(none.err()).hasLineCount(1).contains("--repeats 0 --twins 0");
  }
}
