package dev.kbx.device;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.worker.Message;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.PeakRates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

class PeakCacheTest {
  private static final Map<String, String> GPU =
      Map.of("uuid", "GPU-1", "driver", "580.1", "torch", "2.13", "worker", "abc");

  @TempDir private Path folder;
  private final List<String> problems = new ArrayList<>();
  private Instant now = Instant.parse("2026-11-22T03:00:00Z");
  private double rate = 100;
  private int measured;
  private PeakCache peaks = PeakCache.nowhere();

  @BeforeEach
  void newRun() {
    peaks = PeakCache.in(folder.resolve("peaks"), () -> now, problems::add);
  }

  private double ask(Map<String, String> gpu) throws Exception {
    return ask(gpu, new OracleMessage.DeviceState(null, null, null, null, null));
  }

  private double ask(Map<String, String> gpu, OracleMessage.DeviceState state) throws Exception {
    OracleMessage.Peaks answer =
        new OracleMessage.Peaks(1, new PeakRates(rate, null, null, Map.of()), state);
    return requireNonNull(
        peaks
            .of(
                hello(gpu),
                () -> {
                  measured++;
                  return answer;
                })
            .copyGbs());
  }

  private static Message.Hello hello(Map<String, String> gpu) {
    Map<String, JsonNode> device = new HashMap<>();
    for (String key : List.of("uuid", "driver")) {
      String value = gpu.get(key);
      if (value != null) device.put(key, JsonNodeFactory.instance.stringNode(value));
    }
    Map<String, String> versions = new HashMap<>(gpu);
    versions.keySet().removeAll(List.of("uuid", "driver"));
    return new Message.Hello(1, "oracle", 1, versions, device, null, null, null);
  }

  @Test
  void cachedPeaksAreReturnedWithoutMeasuring() throws Exception {
    assertThat(peaks.known(hello(GPU))).isEmpty();
    ask(GPU);
    newRun();
    assertThat(peaks.known(hello(GPU)).orElseThrow().copyGbs()).isEqualTo(100);
    assertThat(peaks.known(hello(with("uuid", "GPU-2")))).isEmpty();
    assertThat(PeakCache.nowhere().known(hello(GPU))).isEmpty();
    assertThat(measured).isEqualTo(1);
  }

  private static Map<String, String> with(String key, @Nullable String value) {
    Map<String, String> changed = new HashMap<>(GPU);
    if (value == null) changed.remove(key);
    else changed.put(key, value);
    return changed;
  }

  private Path file() {
    return folder.resolve("peaks/GPU-1.json");
  }

  @Test
  void peaksAreMeasuredOnceForManyRuns() throws Exception {
    assertThat(ask(GPU)).isEqualTo(100);
    rate = 90;
    newRun();
    assertThat(ask(GPU)).isEqualTo(100);
    assertThat(measured).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"driver, 590", "torch, 2.14", "worker, abd", "uuid, GPU-2"})
  void changedDeviceOrVersionIsMeasuredAgain(String key, String value) throws Exception {
    ask(GPU);
    rate = 90;
    assertThat(ask(with(key, value))).isEqualTo(90);
    assertThat(problems).isEmpty();
  }

  @Test
  void peaksOfSeveralDevicesAreKept() throws Exception {
    ask(GPU);
    ask(with("uuid", "GPU-2"));
    ask(GPU);
    assertThat(measured).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"29, 1", "30, 2", "-1, 2"})
  void peaksAreMeasuredAgainAfterAMonth(int days, int times) throws Exception {
    ask(GPU);
    now = now.plus(Duration.ofDays(days));
    ask(GPU);
    assertThat(measured).isEqualTo(times);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "null",
        "[]",
        "{}",
        "{\"device\":{},\"measured\":\"2026-11-22T03:00:00Z\",\"rates\":{\"copy_gbs\":null}}",
        "{\"device\":{},\"measured\":\"2026-11-22T03:00:00Z\",\"rates\":{\"copy_gbs\":-1}}",
        "{\"device\":{},\"measured\":\"yesterday\",\"rates\":{\"copy_gbs\":1}}",
      })
  void aFileThatCannotBeReadIsNamedAndReplaced(String content) throws Exception {
    ask(GPU);
    Files.writeString(file(), content);
    assertThat(ask(GPU)).isEqualTo(100);
    assertThat(problems).singleElement().asString().contains(file().toString(), "measured again");
    ask(GPU);
    assertThat(measured).isEqualTo(2);
  }

  @Test
  void aFolderThatCannotBeWrittenIsNamed() throws Exception {
    Files.writeString(folder.resolve("peaks"), "a file where the folder should be");
    assertThat(ask(GPU)).isEqualTo(100);
    assertThat(problems).singleElement().asString().contains("cannot be kept in", "GPU-1.json");
  }

  @Test
  void peaksOfAThrottledDeviceAreNotCached() throws Exception {
    ask(GPU, new OracleMessage.DeviceState(990.0, null, 92.0, null, List.of("hw_thermal")));
    assertThat(file()).doesNotExist();
    ask(GPU, new OracleMessage.DeviceState(1980.0, null, 60.0, null, List.of("sw_power_cap")));
    assertThat(file()).exists();
  }

  @ParameterizedTest
  @ValueSource(strings = {"uuid", "driver", "torch", "worker"})
  void deviceWithoutIdentityIsMeasuredEachTime(String unknown) throws Exception {
    ask(with(unknown, null));
    ask(with(unknown, null));
    assertThat(measured).isEqualTo(2);
    assertThat(folder.resolve("peaks")).doesNotExist();
  }

  @Test
  void noDraftFileRemains() throws Exception {
    ask(GPU);
    assertThat(names(file().getParent())).containsExactly("GPU-1.json");
  }

  private static List<String> names(@Nullable Path folder) throws IOException {
    if (folder == null) return List.of();
    try (var files = Files.list(folder)) {
      return files.map(f -> f.getFileName().toString()).toList();
    }
  }
}
