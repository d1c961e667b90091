package dev.kbx.run;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.Bundled;
import dev.kbx.Patience;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.device.Slot;
import dev.kbx.device.Workers;
import dev.kbx.error.EnvironmentException;
import dev.kbx.judge.FakeWorkers;
import dev.kbx.judge.JudgingConditions;
import dev.kbx.judge.LocalReferee;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Grade;
import dev.kbx.plan.L2State;
import dev.kbx.plan.Limits;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Tolerance;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.store.Stored;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Runner;
import dev.kbx.worker.Zygote;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is judged, what is remembered, and what the store then holds. */
@Timeout(Patience.SECONDS)
class RunServiceTest {
  private static final Map<String, ?> RIGHT = Map.of();
  private static final Map<String, ?> SILENT = Map.of("call", List.of());

  private final Workers workers = FakeWorkers.start();
  private final List<Slot> slots =
      List.of(FakeWorkers.slot(workers, 0), FakeWorkers.slot(workers, 1));
  private final List<Stored> heard = Collections.synchronizedList(new ArrayList<>());
  private RunStore store;

  @TempDir private Path folder;

  @BeforeEach
  void open() {
    store = RunStore.open(StoreAddress.of(folder.resolve("kbx.db")));
  }

  @AfterEach
  void close() {
    store.close();
    workers.close();
  }

  private RunInfo begin(String id, int candidates) {
    return begin(id, candidates, null);
  }

  private RunInfo begin(String id, int candidates, RunInfo.@Nullable Settings settings) {
    RunInfo run =
        new RunInfo(
            id,
            Instant.now(),
            null,
            List.of(),
            "suite",
            "*",
            List.of(),
            List.of(),
            FakeWorkers.DEVICE,
            Map.of(),
            candidates,
            1,
            "eager",
            "model",
            "general",
            "fp32",
            "kernel",
            false,
            settings,
            null,
            null,
            null);
    store.begin(run);
    return run;
  }

  /** Judges and returns how many of the verdicts were not judged but remembered. */
  private int judge(RunInfo run, Plan plan, List<Candidate> candidates) throws Exception {
    return judge(run, plan, slots, candidates);
  }

  private int judge(RunInfo run, Plan plan, List<Slot> places, List<Candidate> candidates)
      throws Exception {
    LocalReferee local = FakeWorkers.referee(places.toArray(new Slot[0]));
    RememberingReferee referee = new RememberingReferee(local, store);
    try (RunService service =
        RunService.open(store, referee, plan, run, (stored, _) -> heard.add(stored))) {
      service.submitAll(candidates);
      service.finish();
    }
    return referee.remembered();
  }

  /** As long as the oracle thinks about slow.py, its equals come to be judged. */
  private static List<Candidate> equals(int count, String task, Map<String, ?> script) {
    Candidate one = FakeWorkers.candidate(task, script);
    return IntStream.range(0, count).mapToObj(i -> FakeWorkers.sample(one, i)).toList();
  }

  @Test
  void newerOfTwoRunsOfTheSameSecondComesFirst() {
    begin("20261121T063501-zzzz", 1);
    begin("20261121T063501-aaaa", 1);
    assertThat(store.runs().getFirst().id()).isEqualTo("20261121T063501-aaaa");
  }

  @Test
  void equalConcurrentCandidatesAreJudgedOnce() throws Exception {
    assertThat(judge(begin("1", 6), FakeWorkers.plan(), equals(6, "slow", RIGHT))).isEqualTo(5);
    assertThat(store.verdicts("1").values())
        .hasSize(6)
        .allSatisfy(v -> assertThat(v.judgement().status()).isEqualTo(Status.CORRECT))
        .extracting(v -> v.judgement().seconds())
        .as("one measurement")
        .containsOnly(store.verdict("1", 0).judgement().seconds());
    assertThat(heard).hasSize(6);
    assertThat(judge(begin("2", 2), FakeWorkers.plan(), equals(2, "slow", RIGHT))).isEqualTo(2);
  }

  @Test
  void aVerdictIsRememberedForTheDeviceThatJudged() throws Exception {
    List<Slot> one = List.of(workers.slot(DeviceSlot.cuda(0)));
    List<Slot> other = List.of(workers.slot(DeviceSlot.cuda(FakeWorkers.OF_KNOWN_ARCHITECTURE)));
    List<Candidate> candidates = equals(1, "task", RIGHT);
    assertThat(judge(begin("1", 1), FakeWorkers.plan(), one, candidates)).isZero();
    assertThat(judge(begin("2", 1), FakeWorkers.plan(), other, candidates)).isZero();
    assertThat(judge(begin("3", 1), FakeWorkers.plan(), one, candidates)).isEqualTo(1);
    assertThat(judge(begin("4", 1), FakeWorkers.plan(), other, candidates)).isEqualTo(1);
  }

  @Test
  void timeoutIsNotSharedWithEqualCandidates() throws Exception {
    Plan hasty = FakeWorkers.plan(Duration.ofMillis(300), Duration.ofSeconds(5));
    assertThat(judge(begin("1", 3), hasty, equals(3, "task", SILENT))).isZero();
    assertThat(store.verdicts("1").values())
        .hasSize(3)
        .allSatisfy(v -> assertThat(v.judgement().status()).isEqualTo(Status.TIMEOUT));
    assertThat(store.verdicts("1").values().stream().map(v -> v.judgement().seconds()).distinct())
        .as("each judged by itself")
        .hasSize(3);
  }

  private static Plan timed(boolean profile) {
    Plan plan = FakeWorkers.plan();
    return new Plan(
        List.of(Stage.CALL, Stage.CORRECT, Stage.PERF),
        plan.rules(),
        plan.arch(),
        plan.secret(),
        plan.limits(),
        Tolerance.MODEL,
        Grade.GENERAL,
        ModulePrecision.FP32,
        Optional.empty(),
        Baseline.EAGER,
        L2State.COLD,
        profile,
        false,
        true);
  }

  @Test
  void profileIsRememberedAndAFailedProfileRepeated() throws Exception {
    String failed = "{\"type\":\"profiled\",\"id\":$id,\"seconds\":0,\"failure\":\"busy\"}";
    List<Candidate> candidates =
        List.of(
            FakeWorkers.candidate("timed", RIGHT),
            FakeWorkers.candidate("timed", Map.of("profile", List.of(failed))));
    List<Slot> gpu = List.of(workers.slot(DeviceSlot.cuda(0)));
    assertThat(judge(begin("1", 2), timed(false), gpu, candidates)).isZero();
    assertThat(judge(begin("2", 2), timed(true), gpu, candidates)).as("not profiled").isZero();
    assertThat(judge(begin("3", 2), timed(true), gpu, candidates)).as("one failed").isEqualTo(1);
    assertThat(store.verdicts("1").values())
        .extracting(v -> v.judgement().profile())
        .containsOnlyNulls();
    for (String run : List.of("2", "3")) {
      assertThat(requireNonNull(store.verdict(run, 0).judgement().profile()).kernels()).hasSize(1);
      assertThat(requireNonNull(store.verdict(run, 1).judgement().profile()).failure())
          .isEqualTo("busy");
    }
  }

  @Test
  void onlyCandidatesWithoutAVerdictAreJudged() throws Exception {
    RunInfo run = begin("1", 3);
    List<Candidate> candidates =
        List.of(
            FakeWorkers.candidate("once", Map.of("x", 0)),
            FakeWorkers.candidate("once", Map.of("x", 1)),
            FakeWorkers.candidate("once", Map.of("x", 2)));
    judge(run, FakeWorkers.plan(), candidates.subList(0, 2));
    judge(run, FakeWorkers.plan(), candidates);
    assertThat(heard).extracting(Stored::position).containsExactlyInAnyOrder(0, 1, 2);
    assertThat(heard)
        .allSatisfy(s -> assertThat(s.verdict()).isEqualTo(store.verdict("1", s.position())));
    assertThat(store.count("1")).isEqualTo(3);
  }

  @Test
  void resumedRunRecognisesReorderedCandidates() throws Exception {
    RunInfo run = begin("1", 3);
    List<Candidate> candidates = equals(3, "task", RIGHT);
    judge(run, FakeWorkers.plan(), candidates.subList(1, 2));
    judge(run, FakeWorkers.plan(), candidates.reversed());
    assertThat(store.judged("1"))
        .extracting(RunStore.Judged::identity)
        .containsExactlyInAnyOrderElementsOf(candidates.stream().map(Candidate::identity).toList());
    assertThat(heard).hasSize(3);
  }

  @Test
  void equalCandidateSharesAFutureAndAJudgedOneIsAnsweredAtOnce() throws Exception {
    RunInfo run = begin("1", 1);
    RememberingReferee referee =
        new RememberingReferee(FakeWorkers.referee(slots.getFirst()), store);
    Candidate candidate = FakeWorkers.candidate("task", RIGHT);
    RunService.Listener nobody = (_, _) -> {};
    try (RunService service = RunService.open(store, referee, FakeWorkers.plan(), run, nobody)) {
      CompletableFuture<Judgement> first = service.submit(candidate);
      assertThat(service.submit(candidate)).isSameAs(first);
      assertThat(first.get().status()).isEqualTo(Status.CORRECT);
      service.finish();
    }
    try (RunService again = RunService.open(store, referee, FakeWorkers.plan(), run, nobody)) {
      assertThat(again.submit(candidate)).isCompleted();
      assertThat(store.count(run.id())).isEqualTo(1);
    }
  }

  @Test
  void sourcesOfCandidatesThatWereJudgedAreNotReadAgain() throws Exception {
    Path file = folder.resolve("predictions.jsonl");
    String row =
        "{\"file\":\"Math/add.py\",\"sample\":%d,\"predict\":\"def add(a, b): return %d\"}%n";
    Files.writeString(file, row.formatted(0, 1) + row.formatted(1, 2) + row.formatted(2, 2));
    List<Candidate> read =
        CandidateSources.read(List.of(file), Bundled.suite("kernelbenchx")).candidates();
    Plan plan = FakeWorkers.plan();
    RunInfo run = begin("1", 3, RunService.settings(plan, read));
    RunInfo other = begin("2", 3);
    AtomicInteger judged = new AtomicInteger();
    finish(run, plan, read.subList(0, 2), judged);
    Files.writeString(file, Files.readString(file).replaceFirst("return 1", "return 7"));
    finish(run, plan, read, judged);
    assertThat(judged).hasValue(3);
    assertThat(store.count("1")).isEqualTo(3);
    assertThatThrownBy(() -> finish(other, plan, read, judged))
        .isInstanceOf(EnvironmentException.class);
  }

  /** Goes on with a run whose referee counts, and judges nothing. */
  private void finish(RunInfo run, Plan plan, List<Candidate> candidates, AtomicInteger judged)
      throws Exception {
    JudgingConditions conditions = new JudgingConditions(FakeWorkers.DEVICE, Map.of());
    Referee referee =
        new Referee() {
          @Override
          public Judgement judge(Candidate candidate, Plan plan) {
            judged.incrementAndGet();
            return conditions.givenUp(candidate, plan, "counted");
          }

          @Override
          public int capacity() {
            return 1;
          }

          @Override
          public void expect(Plan plan, int candidates) {}
        };
    try (RunService service = RunService.open(store, referee, plan, run, (_, _) -> {})) {
      service.submitAll(candidates);
      service.finish();
    }
  }

  @Test
  void warmRunnersDoNotExceedRemainingCandidates() throws Exception {
    List<Slot> gpu = List.of(workers.slot(DeviceSlot.cuda(0)));
    judge(begin("1", 1), timed(false), gpu, List.of(FakeWorkers.candidate("timed", RIGHT)));
    Thread.sleep(500); // For those who would make more.
    // One compiles, one is called, one is timed, and each of the last two has left another behind.
    assertThat(lastRunner(gpu.getFirst())).isBetween(3, 5);
  }

  private static int lastRunner(Slot slot) throws Exception {
    Zygote zygote = slot.zygote();
    Limits limits = Limits.defaults();
    try (Runner runner = zygote.spawn(slot.device(), "sm_90", limits.allowance(), false)) {
      return runner.number() - 1;
    }
  }

  @Test
  void noThirdDeviceIsRiskedForACandidate() throws Exception {
    List<Slot> dead = List.of(workers.slot(DeviceSlot.cuda(7)), workers.slot(DeviceSlot.cuda(8)));
    RunInfo run = begin("run", 1);
    judge(run, FakeWorkers.plan(), dead, List.of(FakeWorkers.candidate("timed", RIGHT)));
    assertThat(store.verdicts("run").values())
        .singleElement()
        .satisfies(verdict -> {
          assertThat(verdict.judgement().status()).isEqualTo(Status.CRASHED);
          assertThat(verdict.judgement().message())
              .startsWith("given up, as two devices stopped computing under it:")
              .contains("no longer computes");
        });
  }
}
