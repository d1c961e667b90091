package dev.kbx.judge;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.Patience;
import dev.kbx.device.Workers;
import dev.kbx.plan.Plan;
import dev.kbx.stats.LogMean;
import dev.kbx.stats.Ratio;
import dev.kbx.timing.RawRounds;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import dev.kbx.worker.Zygote;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a runner claims about its time, and what it does to the baseline's. */
@Timeout(Patience.SECONDS)
class TimingTest extends TimingCase {
  @Test
  void speedupIsTheRatioOfMedians() throws Exception {
    assertThat(speedup(judge("timed", Map.of()))).isCloseTo(2, within(1e-6));
  }

  @Test
  void figuresFollowFromTheStoredRounds() throws Exception {
    for (Judgement verdict : List.of(judge("timed", Map.of()), claiming(260, 45, 45, 45))) {
      List<LogMean> all = new ArrayList<>();
      for (Verdict.SizeTiming size : requireNonNull(verdict.sizes())) {
        RawRounds.Figures figures = RawRounds.figures(RawRounds.rows(requireNonNull(size.raw())));
        assertThat(figures.candidateMs()).isEqualTo(size.candidateMs());
        assertThat(figures.referenceMs()).isEqualTo(size.referenceMs());
        assertThat(figures.speedup()).isEqualTo(new Ratio(size.speedup(), size.low(), size.high()));
        assertThat(figures.rounds()).isEqualTo(size.rounds());
        all.add(figures.log());
      }
      Verdict.Speedup speedup = requireNonNull(verdict.speedup());
      assertThat(RawRounds.speedup(all, null))
          .isEqualTo(new Ratio(speedup.value(), speedup.low(), speedup.high()));
    }
  }

  /**
   * 100 and 400 ms of the reference, 50 of the candidate; three quarters of the time are at the
   * first.
   */
  @Test
  void weightedSizesHaveTheSpeedupOfTheirTotalTime() throws Exception {
    Judgement verdict = judge("weighted", Map.of());
    List<Verdict.SizeTiming> sizes = requireNonNull(verdict.sizes());
    assertThat(sizes).extracting(Verdict.SizeTiming::weight).containsExactly(0.75, 0.25);
    assertThat(speedup(verdict)).isCloseTo(1 / (0.75 / 2 + 0.25 / 8), within(1e-6));
    Verdict.Speedup speedup = requireNonNull(verdict.speedup());
    List<LogMean> logs = new ArrayList<>();
    for (Verdict.SizeTiming size : sizes) {
      logs.add(RawRounds.figures(RawRounds.rows(requireNonNull(size.raw()))).log());
    }
    assertThat(RawRounds.speedup(logs, List.of(0.75, 0.25)))
        .isEqualTo(new Ratio(speedup.value(), speedup.low(), speedup.high()));
    Verdict.Baseline eager = requireNonNull(verdict.baselines()).getFirst();
    assertThat(requireNonNull(eager.speedup())).isEqualTo(speedup.value());
    Verdict.Geometric mean = requireNonNull(eager.geometric());
    assertThat(mean.value()).isCloseTo(4, within(1e-6));
    assertThat(RawRounds.speedup(logs, null))
        .isEqualTo(new Ratio(mean.value(), mean.low(), mean.high()));
    assertThat(requireNonNull(judge("timed", Map.of()).baselines()).getFirst().geometric())
        .isNull();
  }

  @Test
  void timeBelowTheMemoryFloorIsEvidence() throws Exception {
    // 100 GB at 1000 GB/s take 100 ms; a cache may help, but not by a factor of five.
    Judgement verdict = claiming(20, 20, 20, 20);
    assertThat(verdict.status()).isEqualTo(Status.CHEATING);
    assertThat(verdict.evidence()).contains("20.00000 ms", "40.00000 ms");
    assertThat(speedup(claiming(45, 45, 45, 45))).isCloseTo(100.0 / 45, within(1e-6));
  }

  @Test
  void stalePeakRatesAreRemeasuredBeforeCheatingIsFound() throws Exception {
    assertThat(speedup(claimingOn("stale", 20, 20, 20, 20))).isCloseTo(5, within(1e-6));
    assertThat(claimingOn("stale", 10, 10, 10, 10).status()).isEqualTo(Status.CHEATING);
  }

  @Test
  void timeBelowAnEmptyCallIsEvidence() throws Exception {
    assertThat(claiming(1e-4, 1e-4, 1e-4, 1e-4).evidence()).contains("nothing at all");
  }

  @Test
  void workMovedIntoOneCallOfABatchGainsNothing() throws Exception {
    assertThat(speedup(claiming(260, 45, 45, 45))).isCloseTo(100 / 98.75, within(1e-6));
  }

  @ParameterizedTest
  @CsvSource({"0.05, false", "0.40, true"})
  void timeSeenOnlyByTheWallClockCounts(double seconds, boolean counts) throws Exception {
    String claim = measured(20, 20, 20, 20);
    Judgement verdict = judge("product", Map.of("measure", List.of(claim), "longer", seconds));
    assertThat(verdict.flags()).isEqualTo(counts ? List.of("clock_gap") : List.of());
    if (counts) assertThat(speedup(verdict)).isLessThan(1.1);
    else assertThat(speedup(verdict)).isCloseTo(5, within(1e-6));
  }

  @Test
  void timeToReadAnAnswerCounts() throws Exception {
    String claim = measured(20, 20, 20, 20).replace("\"seconds\":0", "\"seconds\":$slow");
    Judgement verdict = judge("product", Map.of("measure", List.of(claim)));
    assertThat(verdict.flags()).containsExactly("clock_gap");
  }

  @Test
  void longMessagesOfOtherWorkersAreNotCandidateTime() throws Exception {
    // By the clock of the machine: reading what others say takes none of the other.
    try (Workers real = FakeWorkers.start()) {
      JudgingSlot own = FakeWorkers.judgingSlot(real.slot(DeviceSlot.cuda(0)));
      Thread talker = Thread.startVirtualThread(() -> talk(real));
      Judgement verdict =
          judge(own, "product", Map.of("measure", List.of(measured(20, 20, 20, 20))));
      talker.interrupt();
      talker.join();
      assertThat(verdict.flags()).isEmpty();
    }
  }

  private static void talk(Workers workers) {
    String answer =
        "{\"type\":\"returned\",\"id\":$id,\"value\":[$fat,$fat,$fat],\"seconds\":0,\"launches\":0,\"configurations\":[],\"unguarded\":[],\"compiled\":[]}";
    String source = JsonMapper.shared().writeValueAsString(Map.of("call", List.of(answer)));
    JsonNode none = JsonMapper.shared().createArrayNode();
    Duration limit = Duration.ofSeconds(20);
    try {
      Runner other =
          workers
              .zygote()
              .spawn(DeviceSlot.cpu(1), "sm_90", new Zygote.Allowance(1, 1, 1, 1), false);
      other.ask(
          RunnerMessage.Loaded.class,
          id ->
              new RunnerMessage.Load(
                  id, source, List.of(), List.of(), Map.of(), false, false, null, false),
          limit);
      while (true) {
        other.ask(
            RunnerMessage.Returned.class,
            id -> new RunnerMessage.Call(id, none, none, null, false),
            limit);
      }
    } catch (InterruptedException e) {
      // The candidate has its verdict.
    } catch (TimeoutException | Runner.Lost e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @CsvSource({"60, 0.50, false", "60, 0.70, true", "20, 0.30, true"})
  void copyingLargeResultsIsNotCandidateTime(double ms, double seconds, boolean counts)
      throws Exception {
    // 50 GB are read and written in 100 ms a call; whoever makes them sooner copies them sooner.
    String claim = measured(ms, ms, ms, ms);
    Judgement verdict = judge("returning", Map.of("measure", List.of(claim), "longer", seconds));
    assertThat(verdict.flags()).isEqualTo(counts ? List.of("clock_gap") : List.of());
  }

  @ParameterizedTest
  @ValueSource(doubles = {1e308, 1e7, 4.9e-324, 0, -1})
  void impossibleBatchTimeIsEvidence(double ms) throws Exception {
    assertThat(claiming(ms, ms, ms, ms).evidence()).contains("invalid batch report");
  }

  @Test
  void loadFailureAfterCorrectnessIsAPerfFailure() throws Exception {
    String raised =
        "{\"type\":\"raised\",\"id\":$id,\"kind\":\"memory\",\"exception\":\"MemoryError\",\"message\":\"\",\"frames\":[],\"compiled\":[]}";
    Judgement verdict = judge("timed", Map.of("timed_load", List.of(raised)));
    assertThat(verdict.status()).isEqualTo(Status.OUT_OF_MEMORY);
    assertThat(verdict.stage()).isEqualTo(Stage.PERF);
    assertThat(verdict.exeOk()).isTrue();
    assertThat(verdict.perfOk()).isFalse();
  }

  @Test
  void missingAccountOfTimedCallsIsAFlag() throws Exception {
    String recorded = "{\"type\":\"calls_recorded\",\"id\":$id,\"seconds\":0,\"origins\":[null]}";
    Judgement verdict = brief("brief", Map.of("record_calls", List.of(recorded)));
    assertThat(speedup(verdict)).isCloseTo(2, within(1e-6));
    assertThat(verdict.flags()).containsExactly("no_origin");
  }

  @Test
  void oneSlowRoundIsAbsorbedByTheMedian() throws Exception {
    assertThat(speedup(claiming(90, 50, 50, 50))).isCloseTo(2, within(1e-6));
  }

  @Test
  void baselineSlowedOnlyByTheCandidateIsEvidence() throws Exception {
    Judgement verdict = judge("hogged", Map.of());
    assertThat(verdict.status()).isEqualTo(Status.CHEATING);
    assertThat(verdict.stage()).isEqualTo(Stage.PERF);
    assertThat(verdict.evidence()).startsWith("baseline:").contains("200.0000 ms", "100.0000 ms");
  }

  @Test
  void skippedCallInEachBatchIsAlwaysDetected() throws Exception {
    for (int i = 0; i < 5; i++) {
      assertThat(judge("skipping", Map.of()).status()).isEqualTo(Status.WRONG_VALUES);
    }
  }

  @Test
  void allResultsAreCheckedAgainAfterGraphsAreGivenUp() throws Exception {
    assertThat(brief("late", Map.of()).status()).isEqualTo(Status.WRONG_VALUES);
  }

  @ParameterizedTest
  @ValueSource(strings = {"launching", "greedy"})
  void busyHostChangesNoSpeedup(String task) throws Exception {
    Judgement verdict = judge(task, Map.of());
    assertThat(speedup(verdict)).isCloseTo(2, within(1e-6));
    assertThat(requireNonNull(verdict.sizes()).getFirst().referenceMs()).isEqualTo(100);
    assertThat(verdict.flags()).containsExactly("slow_baseline");
  }

  @Test
  void baselineSlowInMostRoundsIsNotEvidence() throws Exception {
    assertThat(judge("sluggish", Map.of()).status()).isEqualTo(Status.CORRECT);
  }

  @Test
  void candidateThatStarvesTheReferenceIsOutOfMemory() throws Exception {
    assertThat(judgeOnFresh("starved").status()).isEqualTo(Status.OUT_OF_MEMORY);
  }

  @Test
  void fullDeviceIsInfrastructure() throws Exception {
    assertThat(judgeOnFresh("full").status()).isEqualTo(Status.INFRASTRUCTURE);
  }

  @Test
  void hotDeviceChangesNoSpeedup() throws Exception {
    Judgement verdict = judge("hot", Map.of());
    assertThat(speedup(verdict)).isCloseTo(4, within(1e-6));
    assertThat(verdict.flags()).isEmpty();
  }

  @Test
  void recoveredReferenceCountsWithItsLaterTime() throws Exception {
    Judgement verdict = judge("cooling", Map.of());
    assertThat(speedup(verdict)).isCloseTo(3.2, within(1e-6));
    assertThat(verdict.flags()).containsExactly("slow_baseline");
  }

  @Test
  void bandwidthAndSpeedOfLightUseReferenceWorkAndPeaks() throws Exception {
    var size = requireNonNull(judge("product", Map.of()).sizes()).getFirst();
    assertThat(size.candidateMs()).isEqualTo(50);
    assertThat(size.gbs()).isCloseTo(400, within(1e-9));
    assertThat(size.tflops()).isCloseTo(0.6, within(1e-9));
    assertThat(size.iou()).isCloseTo(0.4, within(1e-9));
    assertThat(size.mfu()).isCloseTo(0.6, within(1e-9));
    assertThat(size.intensity()).isCloseTo(1.5, within(1e-9));
    assertThat(size.solMs()).isCloseTo(30, within(1e-9));
    assertThat(size.bound()).isEqualTo(Verdict.Bound.COMPUTE);
    assertThat(size.solScore()).isCloseTo(70.0 / 90, within(1e-9));
  }

  @ParameterizedTest
  @CsvSource({"199_000_000, 0", "200_000_000, 1"})
  void workspaceHundredTimesTheReferenceIsAFlag(String bytes, int flags) throws Exception {
    String claim =
        measured(0.04, 0.04, 0.04, 0.04)
            .replace("{\"type", "{\"peak_bytes\":" + bytes.replace("_", "") + ",\"type");
    Judgement verdict = judge("brief", Map.of("measure", List.of(claim)));
    assertThat(requireNonNull(verdict.sizes()).getFirst().referencePeakBytes())
        .isEqualTo(2_000_000);
    assertThat(verdict.flags().stream().filter("large_workspace"::equals)).hasSize(flags);
  }

  @ParameterizedTest
  @CsvSource({"200_000_000, false", "199_999_999_999, false", "200_000_000_000, true", "-1, false"})
  void copiesOfArgumentsAndResultsAreNotWorkspace(String bytes, boolean flagged) throws Exception {
    long peak = Long.parseLong(bytes.replace("_", ""));
    String claim =
        measured(50, 50, 50, 50).replace("{\"type", "{\"peak_bytes\":" + peak + ",\"type");
    Judgement verdict = judge("timed", Map.of("measure", List.of(claim)));
    var size = requireNonNull(verdict.sizes()).getFirst();
    assertThat(size.peakBytes()).isEqualTo(peak < 0 ? null : peak);
    assertThat(size.referencePeakBytes()).isEqualTo(2_000_000);
    assertThat(verdict.flags()).isEqualTo(flagged ? List.of("large_workspace") : List.of());
  }

  @Test
  void memoryAllocatedByTuningIsNotWorkspace() throws Exception {
    String tuning = measured(50, 50, 50, 50).replace("{\"type", "{\"peak_bytes\":268435456,\"type");
    String later = measured(50, 50, 50, 50).replace("{\"type", "{\"peak_bytes\":4096,\"type");
    Judgement verdict =
        judge("timed", Map.of("first_measure", List.of(tuning), "measure", List.of(later)));
    assertThat(requireNonNull(verdict.sizes()).getFirst().peakBytes()).isEqualTo(4096);
    assertThat(verdict.flags()).isEmpty();
  }

  @Test
  void muchSlowerCandidateIsTimedInFewRounds() throws Exception {
    // The reference takes 0.04 ms, 0.03 ms in a graph.
    Judgement verdict = judge("held", Map.of("measure", List.of(measured(9, 9, 9, 9))));
    assertThat(speedup(verdict)).isCloseTo(0.04 / 9, within(1e-6));
    assertThat(requireNonNull(verdict.sizes()).getFirst().rounds()).isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource({"5, 4_000, false", "60, 4_000, true", "5, 16_000, true"})
  void timingStopsAtTheDeviceTimeLimit(double longer, String ms, boolean slow) throws Exception {
    double claim = Double.parseDouble(ms.replace("_", ""));
    Judgement verdict =
        judgeWithin(
            Duration.ofSeconds(60),
            "waiting",
            Map.of("measure", List.of(measured(claim, claim, claim, claim)), "longer", longer));
    assertThat(verdict.status()).as("%s", verdict.message()).isEqualTo(Status.CORRECT);
    assertThat(verdict.perfOk()).isTrue();
    if (slow) {
      assertThat(verdict.speedup()).isNull();
      assertThat(verdict.sizes()).isNull();
      assertThat(verdict.flags()).containsExactly("too_slow");
      assertThat(verdict.message())
          .startsWith(
              "at least %d times slower than the reference: a call of n=1 takes %.3f ms"
                  .formatted((long) (claim / 0.04), claim));
    } else {
      assertThat(verdict.flags()).doesNotContain("too_slow");
      assertThat(verdict.speedup()).isNotNull();
    }
  }

  @Test
  void candidateAsSlowAsTheReferenceIsNotATimeout() throws Exception {
    String claim = measured(4000, 4000, 4000, 4000);
    Judgement verdict =
        judgeWithin(
            Duration.ofSeconds(1), "timed", Map.of("measure", List.of(claim), "longer", 16.0));
    assertThat(speedup(verdict)).isCloseTo(100.0 / 4000, within(1e-6));
  }

  @Test
  void unfinishedFirstBatchIsNotATimeout() throws Exception {
    Judgement verdict =
        judgeWithin(Duration.ofMillis(500), "waiting", Map.of("measure", List.of()));
    assertThat(verdict.status()).isEqualTo(Status.CORRECT);
    assertThat(verdict.flags()).containsExactly("too_slow");
    assertThat(verdict.message())
        .startsWith("not timed: at n=1 a batch of timed calls took longer");
  }

  private static Judgement judgeWithin(Duration device, String task, Map<String, ?> script)
      throws Exception {
    Plan plan =
        FakeWorkers.timedPlan(
            FakeWorkers.plan(Duration.ofSeconds(20), Duration.ofSeconds(60))
                .limits()
                .withDevice(device));
    return new Judge(judgingSlot, plan, FakeWorkers.DEVICE, Map.of())
        .judge(FakeWorkers.candidate(task, script));
  }

  @Test
  void deviceStateIsRecordedWithTheTimes() throws Exception {
    Judgement verdict = judge("timed", Map.of());
    var size = requireNonNull(verdict.sizes()).getFirst();
    assertThat(size.clocks()).isEqualTo(new Verdict.Clocks(1980.0, 2619.0, 45.0, 400.5));
    assertThat(size.throttle()).containsExactly("sw_power_cap");
    assertThat(verdict.flags()).isEmpty();
  }

  @Test
  void throttledRoundsAreMeasuredAgain() throws Exception {
    Judgement verdict = judge("warm", Map.of());
    assertThat(speedup(verdict)).isCloseTo(2, within(1e-6));
    assertThat(verdict.flags()).isEmpty();
    assertThat(requireNonNull(verdict.sizes()).getFirst().throttle())
        .containsExactly("sw_power_cap");
  }

  @Test
  void permanentlyThrottledDeviceIsMeasuredWithAFlag() throws Exception {
    Judgement verdict = judge("baked", Map.of());
    assertThat(speedup(verdict)).isCloseTo(2, within(1e-6));
    assertThat(verdict.flags()).containsExactly("throttled");
    assertThat(requireNonNull(verdict.sizes()).getFirst().throttle()).containsExactly("hw_thermal");
  }
}
