package dev.kbx.timing;

import static dev.kbx.timing.Defaults.BASELINE_AGE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.Patience;
import dev.kbx.device.Gpu;
import dev.kbx.device.Workers;
import dev.kbx.judge.FakeWorkers;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.L2State;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.stats.Ratio;
import dev.kbx.task.Task;
import dev.kbx.worker.DeviceSlot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

/** When a compiled baseline is measured, and when a kept one is believed. */
@Timeout(Patience.SECONDS)
class CompiledBaselinesTest {
  private static final Instant MONDAY = Instant.parse("2026-11-23T08:00:00Z");
  private static final List<String> SHAPES = List.of("n=1", "n=2");

  /** A compilation, then a round that does not count and more than two that do, for either size. */
  private static final String MEASURED = "(compile 0 1 2 3 (\\d+ )*){2}close ";

  private static final String RECHECKED = "(compile 0 1 2 ){2}close ";
  private static final String RECHECKED_AND_MEASURED = "(compile 0 1 2 0 1 2 3 (\\d+ )*){2}close ";

  @TempDir private Path folder;
  private final Map<String, Object> play = new HashMap<>();
  private final List<String> warnings = new ArrayList<>();
  private Instant now = MONDAY;
  private Workers workers = FakeWorkers.start();

  @AfterEach
  void close() {
    workers.close();
  }

  @BeforeEach
  void begin() throws IOException {
    play.put("device", Map.of("uuid", "GPU-a", "driver", "580.1"));
    play.put("versions", Map.of("torch", "2.13.0", "triton", "3.7.1", "python", "3.12.1"));
    play.put("compiled_ms", List.of(50, 50));
    play.put("failure", Map.of("uncompilable.py", "Unsupported: foo"));
  }

  private CompiledBaselines session() throws IOException {
    BaselineCache kept = played();
    workers.close();
    workers = FakeWorkers.compilingIn(folder.resolve("compilers"));
    Gpu gpu = requireNonNull(workers.slot(DeviceSlot.cuda(0)).gpu());
    return new CompiledBaselines(gpu, kept);
  }

  /** Tells oracles what to play from now on. */
  private BaselineCache played() throws IOException {
    BaselineCache kept = new BaselineCache(folder, () -> now, warnings::add);
    Files.createDirectories(folder.resolve("compilers"));
    Files.writeString(
        folder.resolve("compilers").resolve("play.json"),
        JsonMapper.shared().writeValueAsString(play));
    return kept;
  }

  private static CompiledTimes of(CompiledBaselines baselines, String name) throws Exception {
    return of(baselines, FakeWorkers.candidate(name, Map.of()).task());
  }

  private static CompiledTimes of(CompiledBaselines baselines, Task task) throws Exception {
    var asked =
        new CompiledBaselines.Asked(task, Baseline.COMPILE, L2State.COLD, ModulePrecision.FP32);
    return baselines.of(asked, SHAPES, "0abc");
  }

  /** A session from start to end. */
  private CompiledTimes measured() throws Exception {
    return of(session(), "task");
  }

  /** Eager over compiled, geometric mean over the sizes. */
  private static double gain(CompiledTimes times) {
    return Ratio.mean(times.ratios()).value();
  }

  /** What the oracle was asked since the last time. */
  private String asked() throws IOException {
    Path file = folder.resolve("compilers/asked.txt");
    String words = Files.exists(file) ? Files.readString(file) : "";
    Files.deleteIfExists(file);
    return words;
  }

  private Path keptFile() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(f -> f.toString().endsWith(".compile.cold.fp32.json"))
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void sessionMeasuresEachTaskOnce() throws Exception {
    CompiledBaselines baselines = session();
    CompiledTimes times = of(baselines, "task");
    assertThat(gain(times)).isCloseTo(2, within(1e-9));
    assertThat(times.sizes()).extracting(CompiledTimes.Size::shape).isEqualTo(SHAPES);
    assertThat(times.sizes().getFirst().eagerMs()).isEqualTo(100);
    assertThat(times.sizes().getFirst().compiledMs()).isEqualTo(50);
    assertThat(of(baselines, "task")).isSameAs(times);
    assertThat(asked()).matches(MEASURED);
  }

  @Test
  void roundsThatDifferLeaveAnInterval() throws Exception {
    play.put("compiled_ms", List.of(50, 51));
    CompiledTimes.Size size = measured().sizes().getFirst();
    var ratio = size.ratio();
    assertThat(ratio.low()).isLessThan(ratio.value());
    assertThat(ratio.value()).isBetween(100.0 / 51, 2.0).isLessThan(ratio.high());
    RawRounds.Figures figures = RawRounds.figures(RawRounds.rows(size.raw()));
    assertThat(figures.speedup()).isEqualTo(ratio);
    assertThat(figures.candidateMs()).isEqualTo(size.compiledMs());
  }

  @ParameterizedTest
  @CsvSource({"50, true", "51.7, true", "52, false", "48.3, true", "48, false"})
  void cachedBaselineIsConfirmedByTwoRounds(double nowMs, boolean believed) throws Exception {
    measured();
    assertThat(asked()).matches(MEASURED);
    play.put("compiled_ms", List.of(nowMs, nowMs));
    now = MONDAY.plus(Duration.ofDays(6));
    CompiledTimes times = measured();
    assertThat(gain(times)).isCloseTo(believed ? 2 : 100 / nowMs, within(1e-9));
    assertThat(times.sizes().getFirst().measured()).isEqualTo(believed ? MONDAY : now);
    assertThat(asked()).matches(believed ? RECHECKED : RECHECKED_AND_MEASURED);
    assertThat(warnings).isEmpty();
  }

  @Test
  void remeasuredBaselineIsCached() throws Exception {
    measured();
    play.put("compiled_ms", List.of(80, 80));
    measured();
    asked();
    assertThat(gain(measured())).isCloseTo(1.25, within(1e-9));
    assertThat(asked()).matches(RECHECKED);
  }

  @Test
  void baselineOlderThanAWeekIsRemeasured() throws Exception {
    measured();
    asked();
    now = MONDAY.plus(BASELINE_AGE);
    assertThat(measured().sizes().getFirst().measured()).isEqualTo(now);
    assertThat(asked()).matches(MEASURED);
  }

  @Test
  void baselinesAreCachedByDevice() throws Exception {
    measured();
    asked();
    play.put("device", Map.of("uuid", "GPU-b", "driver", "580.1"));
    play.put("compiled_ms", List.of(80, 80));
    assertThat(gain(measured())).isCloseTo(1.25, within(1e-9));
    assertThat(asked()).matches(MEASURED);
    assertThat(warnings).isEmpty();
  }

  @Test
  void baselinesAreCachedBySuiteAndTask() throws Exception {
    measured();
    asked();
    CompiledBaselines baselines = session();
    of(baselines, FakeWorkers.candidate("another", "task", Map.of()).task());
    assertThat(asked()).matches(MEASURED);
    measured();
    assertThat(asked()).matches(RECHECKED);
    assertThat(warnings).isEmpty();
  }

  @Test
  void aFileFromAnotherDeviceIsRefusedAndNamedOnce() throws Exception {
    measured();
    Path foreign = keptFile();
    Files.move(
        foreign, Files.createDirectories(folder.resolve("GPU-b")).resolve(foreign.getFileName()));
    asked();
    play.put("device", Map.of("uuid", "GPU-b", "driver", "580.1"));
    assertThat(measured().sizes()).hasSize(2);
    assertThat(asked()).matches(MEASURED);
    assertThat(warnings).hasSize(1);
    assertThat(warnings.getFirst()).contains("GPU-b", "another device");
  }

  @ParameterizedTest
  @CsvSource({"torch, 2.14.0", "triton, 3.8.0", "python, 3.13.0", "worker, abc"})
  void changedVersionsAreRemeasured(String name, String version) throws Exception {
    measured();
    asked();
    Map<String, String> versions =
        new HashMap<>(Map.of("torch", "2.13.0", "triton", "3.7.1", "python", "3.12.1"));
    versions.put(name, version);
    play.put("versions", versions);
    measured();
    assertThat(asked()).matches(MEASURED);
    assertThat(warnings).hasSize(1);
  }

  @Test
  void unreadableCacheFileIsRemeasured() throws Exception {
    measured();
    Path file = keptFile();
    for (String damaged : List.of("", "{", "{}", Files.readString(file).replace("100.0", "0.0"))) {
      Files.writeString(file, damaged);
      asked();
      assertThat(gain(measured())).isCloseTo(2, within(1e-9));
      assertThat(asked()).matches(MEASURED);
    }
    assertThat(warnings).hasSize(4).allMatch(line -> line.contains("cannot be read"));
  }

  @Test
  void deviceWithoutUuidIsNotCached() throws Exception {
    play.put("device", Map.of());
    measured();
    asked();
    measured();
    assertThat(asked()).matches(MEASURED);
  }

  @Test
  void aReferenceThatCannotBeCompiledHasNoBaseline() throws Exception {
    CompiledBaselines baselines = session();
    CompiledTimes times = of(baselines, "uncompilable");
    assertThat(times.present()).isFalse();
    assertThat(times.failure()).isEqualTo("n=1: Unsupported: foo");
    assertThat(of(baselines, "uncompilable")).isSameAs(times);
    assertThat(of(baselines, "task").present()).isTrue();
    assertThat(asked()).matches("compile " + MEASURED);
  }

  @Test
  void compilerCrashAffectsOnlyItsTask() throws Exception {
    play.put("die", true);
    CompiledBaselines baselines = session();
    assertThat(of(baselines, "task").failure()).contains("given up", "no more memory");
    play.remove("die");
    var _ = played();
    assertThat(of(baselines, "other").present()).isTrue();
    assertThat(of(baselines, "task").present()).isFalse();
  }
}
