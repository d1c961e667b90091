package dev.kbx.timing;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.Patience;
import dev.kbx.device.Slot;
import dev.kbx.device.Workers;
import dev.kbx.judge.BinaryCache;
import dev.kbx.judge.FakeWorkers;
import dev.kbx.judge.LocalReferee;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.L2State;
import dev.kbx.plan.Plan;
import dev.kbx.stats.Ratio;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Geometric;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import dev.kbx.worker.DeviceSlot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Speedups over baselines that a candidate was not timed beside. */
@Timeout(Patience.SECONDS)
class ComparisonTest {
  private static final Instant FIRST = Instant.parse("2026-11-22T08:00:00Z");

  /** Twice as fast as eager, give or take 3 %, at sizes of 10 and 40 ms. */
  private static final Timing.Result TIMING =
      new Timing.Result(
          new Speedup(2, 2 * Math.exp(-0.03), 2 * Math.exp(0.03), "eager"),
          null,
          List.of(size("n=1", 10), size("n=2", 40)),
          List.of(),
          null);

  private static SizeTiming size(String shape, double referenceMs) {
    return size(shape, referenceMs, null);
  }

  private static SizeTiming size(String shape, double referenceMs, @Nullable Double weight) {
    return new SizeTiming(
        shape,
        referenceMs / 2,
        referenceMs,
        2,
        1.9,
        2.1,
        null,
        null,
        null,
        null,
        5,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        weight);
  }

  private static Plan against(Baseline baseline, L2State cache) {
    Plan any = FakeWorkers.plan();
    return new Plan(
        List.of(Stage.CALL, Stage.CORRECT, Stage.PERF),
        any.rules(),
        any.arch(),
        any.secret(),
        any.limits(),
        any.tolerance(),
        any.grade(),
        any.precision(),
        Optional.empty(),
        baseline,
        cache,
        false,
        false,
        true);
  }

  private static Plan against(Baseline baseline) {
    return against(baseline, L2State.COLD);
  }

  /** Gains {@code first} and {@code second} at the two sizes; their mean has 4 %. */
  private static CompiledTimes compiled(Baseline kind, double first, double second) {
    return new CompiledTimes(kind, List.of(times("n=1", first, 60), times("n=2", second, 0)), null);
  }

  private static CompiledTimes.Size times(String shape, double ratio, int later) {
    double doubt = Math.exp(0.08 / Math.sqrt(2));
    return new CompiledTimes.Size(
        shape,
        100,
        100 / ratio,
        new Ratio(ratio, ratio / doubt, ratio * doubt),
        5,
        FIRST.plusSeconds(later),
        "rounds of " + shape);
  }

  private static final CompiledTimes COMPILE = compiled(Baseline.COMPILE, 1, 4);
  private static final CompiledTimes TUNED = compiled(Baseline.MAX_AUTOTUNE, 1.25, 1.25);

  @Test
  void variancesOfBothTimesAdd() {
    Comparison comparison = Comparison.of(against(Baseline.COMPILE), TIMING, List.of(COMPILE));
    Speedup speedup = requireNonNull(comparison.speedup());
    assertThat(speedup.baseline()).isEqualTo("compile");
    assertThat(speedup.value()).isCloseTo(1, within(1e-9)); // 2 over the mean of 1 and 4
    assertThat(speedup.low()).isCloseTo(Math.exp(-0.05), within(1e-9));
    assertThat(speedup.high()).isCloseTo(Math.exp(0.05), within(1e-9));
  }

  /**
   * Of 100 ms, 60 are spent at the first size and 40 at the second. Eager takes 50 in all, compiled
   * ones, at 1× and 4×, take 60 + 10. The geometric mean of 1 and 4 is what it is without weights.
   */
  @Test
  void weightsCountInBothTimes() {
    Timing.Result weighted =
        new Timing.Result(
            TIMING.speedup(),
            new Ratio(2, 2, 2),
            List.of(size("n=1", 10, 0.6), size("n=2", 40, 0.4)),
            List.of(),
            null);
    Comparison comparison = Comparison.of(against(Baseline.COMPILE), weighted, List.of(COMPILE));
    Speedup speedup = requireNonNull(comparison.speedup());
    assertThat(speedup.value()).isCloseTo(70.0 / 50, within(1e-9));
    double doubt = 0.08 / Math.sqrt(2) * Math.hypot(60.0 / 70, 10.0 / 70);
    assertThat(Math.log(speedup.high() / speedup.value()))
        .isCloseTo(Math.hypot(doubt, 0.03), within(1e-9));
    assertThat(comparison.baselines().getFirst().geometric()).isEqualTo(new Geometric(2, 2, 2));
    Geometric mean = requireNonNull(comparison.baselines().getLast().geometric());
    assertThat(mean.value()).isCloseTo(1, within(1e-9));
    assertThat(mean.high()).isCloseTo(Math.exp(0.04), within(1e-9));
  }

  @Test
  void aWarmCacheIsNamedWithTheBaseline() {
    Plan warm = against(Baseline.BEST, L2State.WARM);
    Speedup speedup =
        requireNonNull(Comparison.of(warm, TIMING, List.of(COMPILE, TUNED)).speedup());
    assertThat(speedup.baseline()).isEqualTo("best (compile), warm cache");
  }

  @Test
  void requestedBaselinesAreInTheVerdict() {
    List<Verdict.Baseline> all =
        Comparison.of(against(Baseline.BEST), TIMING, List.of(COMPILE, TUNED)).baselines();
    assertThat(all)
        .extracting(Verdict.Baseline::name)
        .containsExactly("eager", "compile", "max-autotune");
    assertThat(all.getFirst().speedup()).isEqualTo(2);
    assertThat(all.getFirst().sizesMs()).containsExactly(10.0, 40.0);
    assertThat(all.getFirst().measured()).isNull();
    assertThat(all.get(1).sizesMs()).containsExactly(10.0, 10.0);
    assertThat(all.get(1).measured()).isEqualTo(FIRST);
  }

  @ParameterizedTest
  @CsvSource({
    "1.0, 4.0, 1.25, best (compile), 1.0",
    "1.0, 1.0, 1.25, best (max-autotune), 1.6",
    "0.5, 0.8, 0.9, best (eager), 2.0",
  })
  void bestBaselineIsTheFastest(
      double first, double second, double tuned, String name, double value) {
    List<CompiledTimes> compiled =
        List.of(
            compiled(Baseline.COMPILE, first, second),
            compiled(Baseline.MAX_AUTOTUNE, tuned, tuned));
    Speedup speedup =
        requireNonNull(Comparison.of(against(Baseline.BEST), TIMING, compiled).speedup());
    assertThat(speedup.baseline()).isEqualTo(name);
    assertThat(speedup.value()).isCloseTo(value, within(1e-9));
  }

  @Test
  void absentBaselineHasNoSpeedup() {
    CompiledTimes absent = CompiledTimes.absent(Baseline.COMPILE, "it is wrong");
    Comparison comparison = Comparison.of(against(Baseline.COMPILE), TIMING, List.of(absent));
    assertThat(comparison.speedup()).isNull();
    Verdict.Baseline missing = comparison.baselines().getLast();
    assertThat(missing.failure()).isEqualTo("it is wrong");
    assertThat(missing.speedup()).isNull();
    assertThat(missing.sizesMs()).isNull();
    Speedup best =
        requireNonNull(
            Comparison.of(against(Baseline.BEST), TIMING, List.of(absent, TUNED)).speedup());
    assertThat(best.baseline()).isEqualTo("best (max-autotune)");
  }

  @Test
  void judgedCandidateHasBaselines(@TempDir Path folder) throws Exception {
    BaselineCache kept = new BaselineCache(folder, line -> {});
    Files.writeString(
        Files.createDirectories(folder.resolve("compilers")).resolve("play.json"),
        """
        {"device": {"uuid": "GPU-a"}, "versions": {}, "failure": {}, "compiled_ms": [80, 80]}
        """);
    Plan plan = against(Baseline.COMPILE);
    try (Workers workers = FakeWorkers.compilingIn(folder.resolve("compilers"))) {
      Slot slot = workers.slot(DeviceSlot.cuda(0));
      Judgement verdict =
          new LocalReferee(
                  List.of(slot),
                  FakeWorkers.DEVICE,
                  Map.of(),
                  kept,
                  BinaryCache.in(folder, _ -> {}),
                  SyntaxCheck.PARSER)
              .judge(FakeWorkers.candidate("timed", Map.of()), plan);
      assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.CORRECT);
      Speedup speedup = requireNonNull(verdict.speedup());
      assertThat(speedup.baseline()).isEqualTo("compile");
      assertThat(speedup.value()).isCloseTo(1.6, within(1e-9));
      assertThat(requireNonNull(verdict.baselines())).hasSize(2);
    }
  }
}
