package dev.kbx.judge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import dev.kbx.candidate.Candidate;
import dev.kbx.check.Rules;
import dev.kbx.device.OraclePool;
import dev.kbx.device.Slot;
import dev.kbx.device.Workers;
import dev.kbx.plan.Grade;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import dev.kbx.worker.Oracle;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a runner says, and when it ends, decides its own verdict and nothing else. */
@Timeout(Patience.SECONDS)
class JudgeTest {
  private static final String HONEST =
      "{\"type\":\"returned\",\"id\":$id,\"value\":{},\"seconds\":0,\"launches\":1,"
          + "\"configurations\":[],\"unguarded\":[],\"compiled\":[]"
          + ",\"origin\":{\"elements\":1,\"own\":1,\"volume\":2,\"foreign\":0,\"operations\":[],"
          + "\"launches\":1,\"copies\":0,\"used\":true}}";

  private static Workers workers;
  private static Slot slot;

  @BeforeAll
  static void open() {
    workers = FakeWorkers.start();
    slot = FakeWorkers.slot(workers, 0);
  }

  @AfterAll
  static void close() {
    workers.close();
  }

  private Judgement judge(Plan plan, String task, Map<String, ?> script) throws Exception {
    return judgeOn(slot, plan, task, script);
  }

  private static Judgement judgeOn(Slot slot, Plan plan, String task, Map<String, ?> script)
      throws Exception {
    return new Judge(FakeWorkers.judgingSlot(slot), plan, FakeWorkers.DEVICE, Map.of())
        .judge(FakeWorkers.candidate(task, script));
  }

  private Judgement judge(Map<String, ?> script) throws Exception {
    return judge(FakeWorkers.plan(), "task", script);
  }

  private Judgement answering(String request, String... payloads) throws Exception {
    return judge(Map.of(request, List.of(payloads)));
  }

  @Test
  void anHonestRunnerPasses() throws Exception {
    Judgement verdict = judge(Map.of());
    assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.CORRECT);
  }

  private static Judgement graded(Grade grade, String... calls) throws Exception {
    return graded(grade, Duration.ofSeconds(60), calls);
  }

  private static Judgement graded(Grade grade, Duration all, String... calls) throws Exception {
    Plan plan = FakeWorkers.plan(Duration.ofSeconds(10), all);
    Plan graded =
        new Plan(
            plan.stages(),
            plan.rules(),
            plan.arch(),
            plan.secret(),
            plan.limits(),
            plan.tolerance(),
            grade,
            plan.precision(),
            plan.policy(),
            plan.baseline(),
            plan.cache(),
            false,
            false,
            true);
    Map<String, ?> script = calls.length == 0 ? Map.of() : Map.of("call", List.of(calls));
    return new Judge(FakeWorkers.judgingSlot(slot), graded, FakeWorkers.DEVICE, Map.of())
        .judge(FakeWorkers.candidate("general", script));
  }

  @Test
  void publishedGradeDecidesAndBrokenPropertiesAreNamed() throws Exception {
    Judgement verdict = graded(Grade.PUBLISHED);
    assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.CORRECT);
    assertThat(verdict.exeOk()).isTrue();
    assertThat(verdict.publishedOk()).isTrue();
    assertThat(verdict.generalOk()).isFalse();
    assertThat(verdict.holds()).containsExactly("empty", "zeros");
    assertThat(verdict.breaks()).extracting(Verdict.Break::property).containsExactly("strided");
    assertThat(verdict.breaks())
        .extracting(Verdict.Break::status)
        .containsExactly(Status.WRONG_VALUES);
  }

  @Test
  void generalGradeNeedsAllProperties() throws Exception {
    Judgement verdict = graded(Grade.GENERAL);
    assertThat(verdict.status()).isEqualTo(Status.WRONG_VALUES);
    assertThat(verdict.exeOk()).isTrue(); // which the published tests do not ask for
    assertThat(verdict.publishedOk()).isTrue();
    assertThat(verdict.breaks()).extracting(Verdict.Break::property).containsExactly("strided");
  }

  /** After a call that only kbx finds wrong the others are made, to know what is published. */
  @ParameterizedTest
  @CsvSource({
    "strict, race,    true,  false",
    "lax,    correct, false, true",
    "both,   race,    false, false",
  })
  void publishedRuleIsAskedOfAllCallsAndDecidesNothingElse(
      String task, String status, boolean exeOk, boolean publishedOk) throws Exception {
    Judgement verdict = judge(FakeWorkers.plan(), task, Map.of());
    assertThat(verdict.status().label()).as(verdict.message()).isEqualTo(status);
    assertThat(verdict.callOk()).isTrue();
    assertThat(verdict.exeOk()).isEqualTo(exeOk);
    assertThat(verdict.publishedOk()).isEqualTo(publishedOk);
    assertThat(verdict.comparedCalls()).isEqualTo(2);
  }

  @Test
  void everyCallMustRunByThePublishedRule() throws Exception {
    Judgement verdict =
        judge(FakeWorkers.plan(), "strict", Map.of("call", List.of("crash-once 2")));
    assertThat(verdict.status()).isEqualTo(Status.RACE);
    assertThat(verdict.callOk()).isFalse();
    assertThat(verdict.exeOk()).isFalse();
  }

  @Test
  void callsThatAreNotComparedMayRun() throws Exception {
    Plan plan = FakeWorkers.plan();
    List<Stage> stages = List.of(Stage.COMPILE, Stage.CALL);
    Plan called = new Plan(stages, Rules.all(), "sm_90", "secret", plan.limits());
    Judgement verdict = judge(called, "lax", Map.of());
    assertThat(verdict.callOk()).isTrue();
    assertThat(verdict.exeOk()).isNull();
    assertThat(verdict.correct()).isNull();
  }

  /** A GPU stops at a guard page, which published tests do not have. */
  @ParameterizedTest
  @CsvSource({"task, true", "lax, false"})
  void publishedRuleIsAskedOfCallsWithoutGuardPages(String task, boolean exeOk) throws Exception {
    String beyond =
        "{\"type\":\"raised\",\"id\":$id,\"kind\":\"out_of_bounds\",\"exception\":\"E\","
            + "\"message\":\"reads behind x\",\"frames\":[],\"compiled\":[]}";
    Judgement verdict = judge(FakeWorkers.plan(), task, Map.of("guarded_call", List.of(beyond)));
    assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.OUT_OF_BOUNDS);
    assertThat(verdict.callOk()).isTrue();
    assertThat(verdict.exeOk()).isEqualTo(exeOk);
    assertThat(verdict.publishedOk()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 99, -1})
  void untriedConfigurationsAreAFlagIfRepeatedCallsDoNotRunThem(int tuning) throws Exception {
    String untried = "\"untried\":{\"tuning\":%d,\"configurations\":3},".formatted(tuning);
    Judgement verdict = answering("call", HONEST.replace("\"compiled\"", untried + "\"compiled\""));
    assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.CORRECT);
    assertThat(verdict.flags()).containsExactly("untried_configurations");
  }

  @Test
  void launchesThatWereNotGuardedAreAFlag() throws Exception {
    String what = "\"unguarded\":[\"kernel `k`: recorded in a CUDA graph\"]";
    Judgement verdict = answering("call", HONEST.replace("\"unguarded\":[]", what));
    assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.CORRECT);
    assertThat(verdict.flags()).containsExactly("memory_unchecked");
  }

  @Test
  void wrongResultNamesTheConfigurationsThatGaveIt() throws Exception {
    String used = "\"configurations\":[\"k(B=1)\",\"k(%s)\"]".formatted("2".repeat(300));
    Judgement verdict = graded(Grade.GENERAL, HONEST.replace("\"configurations\":[]", used));
    assertThat(verdict.status()).isEqualTo(Status.WRONG_VALUES);
    assertThat(verdict.message())
        .startsWith("case, uniform values")
        .endsWith("; with configuration k(B=1), k(" + "2".repeat(198));
  }

  /** Who is slow until the time is up has not passed what was not asked. */
  @Test
  void callsNotMadeInTimeAreNotCorrect() throws Exception {
    Judgement verdict = graded(Grade.GENERAL, Duration.ZERO);
    assertThat(verdict.status()).isEqualTo(Status.TIMEOUT);
    assertThat(verdict.message()).startsWith("all calls together");
    assertThat(verdict.generalOk()).isNull();
  }

  /** A process of its own makes the calls after each one that ended a process. */
  @Test
  void aCrashBeyondThePublishedGradeBreaksOneProperty() throws Exception {
    Judgement verdict = graded(Grade.PUBLISHED, "crash-once 2");
    assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.CORRECT);
    assertThat(verdict.breaks())
        .extracting(broken -> broken.property() + " " + broken.status().label())
        .containsExactly("empty crashed", "strided wrong_values");
    assertThat(verdict.holds()).containsExactly("zeros");
    assertThat(verdict.generalOk()).isFalse();
  }

  @Test
  void aTaskWithoutSizesIsNotTimed() throws Exception {
    Plan timed =
        new Plan(
            List.of(Stage.CALL, Stage.CORRECT, Stage.PERF),
            Rules.all(),
            "sm_90",
            "secret",
            FakeWorkers.plan().limits());
    Slot gpu = workers.slot(DeviceSlot.cuda(0));
    Judgement verdict =
        new Judge(FakeWorkers.judgingSlot(gpu), timed, FakeWorkers.DEVICE, Map.of())
            .judge(FakeWorkers.candidate("task", Map.of()));
    assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.CORRECT);
    assertThat(verdict.flags()).containsExactly("no_sizes");
    assertThat(verdict.perfOk()).isNull();
  }

  /** Of a runner whose calls are timed nobody asks what they did. */
  @Test
  void onAGpuCallsAreNotMadeWhereTheyAreTimedEvenIfNothingWillBe() throws Exception {
    Slot gpu = workers.slot(DeviceSlot.cuda(0));
    Judgement verdict =
        new Judge(FakeWorkers.judgingSlot(gpu), FakeWorkers.plan(), FakeWorkers.DEVICE, Map.of())
            .judge(FakeWorkers.candidate("task", Map.of("timed_call", List.of("exit 3"))));
    assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.CORRECT);
  }

  @Test
  void candidateOutOfMemoryIsJudgedAgainAlone() throws Exception {
    Slot gpu = workers.slot(DeviceSlot.cuda(0));
    Judgement verdict =
        new Judge(FakeWorkers.judgingSlot(gpu), FakeWorkers.plan(), FakeWorkers.DEVICE, Map.of())
            .judge(FakeWorkers.module("crowded", Map.of()));
    assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.CORRECT);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "[]",
        "{",
        "{\"type\":\"raised\",\"id\":$id}",
        "{\"type\":\"raised\",\"id\":$id,\"kind\":\"runtime\",\"exception\":\"E\",\"message\":\"m\"}",
        "{\"type\":\"raised\",\"id\":$id,\"kind\":null,\"exception\":\"E\",\"message\":\"m\","
            + "\"frames\":[]}",
        "{\"type\":\"raised\",\"id\":$id,\"kind\":\"runtime\",\"exception\":\"E\",\"message\":\"m\","
            + "\"frames\":[null]}",
        "{\"type\":\"raised\",\"id\":$id,\"kind\":\"runtime\",\"exception\":\"E\",\"message\":\"m\","
            + "\"frames\":[{\"line\":1}]}",
        "{\"type\":\"returned\",\"id\":$id,\"seconds\":0,\"launches\":1}",
        "{\"type\":\"returned\",\"id\":$id,\"value\":{},\"seconds\":0,\"launches\":1,"
            + "\"configurations\":[],\"unguarded\":[],\"compiled\":[null]}",
        "{\"type\":\"returned\",\"id\":$id,\"value\":{},\"seconds\":0,\"launches\":1,"
            + "\"configurations\":[],\"unguarded\":[],\"compiled\":[{}]}",
        "{\"type\":\"returned\",\"id\":$id,\"value\":{},\"seconds\":0,\"launches\":1,"
            + "\"configurations\":[],\"unguarded\":[],\"compiled\":[{\"kernel\":\"k\",\"arch\":\"a\",\"registers\":99999999999}]}",
        "{\"type\":\"returned\",\"id\":$id,\"value\":{},\"seconds\":0,\"launches\":1,"
            + "\"configurations\":[],\"unguarded\":[],\"compiled\":[],\"origin\":{}}",
        "{\"type\":\"returned\",\"id\":$id,\"value\":{},\"seconds\":0,\"launches\":1,"
            + "\"configurations\":[],\"unguarded\":[],\"compiled\":[],\"origin\":{\"elements\":1,\"own\":2,\"volume\":1,\"foreign\":0,"
            + "\"operations\":[],\"launches\":0,\"copies\":0,\"used\":false}}",
        "{\"type\":\"checked\",\"id\":$id,\"status\":\"correct\",\"mismatches\":[],\"metrics\":{},"
            + "\"flags\":[]}",
        "{\"type\":\"exited\",\"runner\":1,\"reason\":\"exit\"}",
        "{\"type\":\"failed\",\"id\":$id,\"reason\":\"internal\",\"message\":\"m\"}",
      })
  void anUnreadableAnswerIsEvidence(String payload) throws Exception {
    Judgement verdict = answering("call", payload);
    assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.CHEATING);
    assertThat(verdict.evidence()).startsWith("protocol: the process ");
  }

  @Test
  void unusableClaimsAreDropped() throws Exception {
    Judgement verdict =
        answering(
            "call",
            "{\"type\":\"returned\",\"id\":$id,\"value\":{},\"seconds\":0,\"launches\":1,"
                + "\"configurations\":[],\"unguarded\":[],\"compiled\":[{\"kernel\":\"k\",\"arch\":\"a\",\"registers\":-5,"
                + "\"shared_bytes\":7,\"seconds\":1e999}]"
                + HONEST.substring(HONEST.indexOf(",\"origin\"")));
    assertThat(verdict.status()).isEqualTo(Status.CORRECT);
    assertThat(verdict.kernels())
        .isNotNull()
        .allSatisfy(kernel -> {
          assertThat(kernel.registers()).isNull();
          assertThat(kernel.sharedBytes()).isEqualTo(7);
          assertThat(kernel.seconds()).isNull();
        });
  }

  @Test
  void aResultThatNoKernelMadeIsRejected() throws Exception {
    Judgement verdict =
        answering(
            "call",
            "{\"type\":\"returned\",\"id\":$id,\"value\":{},\"seconds\":0,\"launches\":0,"
                + "\"configurations\":[],\"unguarded\":[],\"compiled\":[],\"origin\":{\"elements\":5,\"own\":0,\"volume\":10,"
                + "\"foreign\":10,\"operations\":"
                + "[{\"name\":\"torch.add\",\"line\":7,\"elements\":10}],"
                + "\"launches\":0,\"copies\":0,\"used\":false}}");
    assertThat(verdict.status()).isEqualTo(Status.NOT_A_KERNEL);
    assertThat(verdict.stage()).isEqualTo(Stage.CORRECT);
    assertThat(verdict.evidence())
        .isEqualTo("policy: no result was written by a kernel of this file; torch.add (line 7)");
    assertThat(verdict.origin())
        .isEqualTo(new Verdict.Origin(0, 1.0, List.of(new Verdict.Operation("torch.add", 7, 1.0))));
    assertThat(verdict.exeOk()).isTrue();
    assertThat(verdict.withoutPolicy())
        .isEqualTo(new Verdict.WithoutPolicy(Status.CORRECT, Stage.CORRECT, null));
  }

  @Test
  void candidateThatPreventsItsAccountCheats() throws Exception {
    Judgement verdict = answering("call", HONEST.replaceFirst(",\"origin\".*", "}"));
    assertThat(verdict.status()).isEqualTo(Status.CHEATING);
    assertThat(verdict.evidence()).contains("which an empty candidate in its place has");
    assertThat(verdict.message()).startsWith("who computed the result is not known");
    assertThat(verdict.flags()).containsExactly("no_origin");
    assertThat(verdict.origin()).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 100})
  void surplusAnswerIsEvidence(int answers) throws Exception {
    assertThat(repeating(HONEST, answers)).isEqualTo(Status.CHEATING);
    // Nor are a hundred megabytes kept until the first of them has been read.
    String fat = HONEST.replace("\"value\"", "\"value\":[$fat],\"value\"");
    assertThat(repeating(fat, answers)).isEqualTo(Status.CHEATING);
  }

  private Status repeating(String answer, int times) throws Exception {
    return answering("call", Collections.nCopies(times, answer).toArray(String[]::new)).status();
  }

  @ParameterizedTest
  @CsvSource({
    "load, exit 0, CRASHED, exited with code 0",
    "call, exit 3, CRASHED, exited with code 3",
    "call, signal 11, CRASHED, SIGSEGV",
    "call, signal 24, TIMEOUT, processor time",
  })
  void endOfTheRunnerDecidesTheVerdict(String request, String end, Status status, String message)
      throws Exception {
    Judgement verdict = answering(request, end);
    assertThat(verdict.status()).isEqualTo(status);
    assertThat(verdict.message()).contains(message);
  }

  private static String lacking(String feature) {
    return "{\"type\":\"raised\",\"id\":$id,\"kind\":\"unsupported\",\"exception\":\"a.E\","
        + "\"message\":\"no frobnicator\",\"frames\":[],\"compiled\":[]"
        + feature
        + "}";
  }

  private static Judgement judgeOn(Slot slot, Map<String, ?> script) throws Exception {
    return new Judge(
            FakeWorkers.judgingSlot(slot), FakeWorkers.plan(), FakeWorkers.DEVICE, Map.of())
        .judge(FakeWorkers.candidate("task", script));
  }

  @ParameterizedTest
  @ValueSource(strings = {"load", "call"})
  void missingInterpreterFeatureFailsTheCandidateThatAsksForIt(String request) throws Exception {
    Judgement verdict = answering(request, lacking(",\"feature\":\"frobnication\""));
    assertThat(verdict.status())
        .isEqualTo(request.equals("load") ? Status.IMPORT_ERROR : Status.RUNTIME_ERROR);
    assertThat(verdict.message())
        .startsWith("kbx cannot run frobnication without a GPU; judge this candidate on one");
  }

  @ParameterizedTest
  @CsvSource({
    "load, none, IMPORT_ERROR",
    "call, none, RUNTIME_ERROR",
    "load, cpp_extension, IMPORT_ERROR",
    "call, cpp_extension, RUNTIME_ERROR",
  })
  void unsupportedFeatureOnACompleteGpuIsTheCandidatesFault(
      String request, String mentioned, Status status) throws Exception {
    Slot gpu = workers.slot(DeviceSlot.cuda(FakeWorkers.OF_KNOWN_ARCHITECTURE));
    Judgement verdict = judgeOn(gpu, Map.of(request, List.of(lacking("")), mentioned, "mentioned"));
    assertThat(verdict.status()).as(verdict.message()).isEqualTo(status);
    assertThat(verdict.message()).startsWith("E: no frobnicator");
  }

  /** The zygote has said that its machine has no TileLang, and nothing of other packages. */
  @ParameterizedTest
  @CsvSource({
    "import tilelang, no frobnicator",
    "from tilelang import language as T, no frobnicator",
    "import cutlass.cute, E: no frobnicator",
    "from . import tilelang, E: no frobnicator",
    "'\"import tilelang\"', E: no frobnicator",
  })
  void missingPackageOnAGpuIsNamed(String statement, String message) throws Exception {
    Slot gpu = workers.slot(DeviceSlot.cuda(FakeWorkers.OF_KNOWN_ARCHITECTURE));
    Candidate plain = FakeWorkers.candidate("task", Map.of("load", List.of(lacking(""))));
    Candidate importing =
        new Candidate(
            plain.task(), plain.code() + "\n" + statement, plain.origin(), 0, null, null, null);
    Judgement verdict =
        new Judge(FakeWorkers.judgingSlot(gpu), FakeWorkers.plan(), FakeWorkers.DEVICE, Map.of())
            .judge(importing);
    assertThat(verdict.status()).isEqualTo(Status.IMPORT_ERROR);
    assertThat(verdict.message()).startsWith(message);
  }

  @ParameterizedTest
  @CsvSource({
    "load, none, IMPORT_ERROR, E: no frobnicator",
    "call, none, RUNTIME_ERROR, E: no frobnicator",
    "load, cpp_extension, IMPORT_ERROR, no frobnicator",
    "call, cpp_extension, RUNTIME_ERROR, no frobnicator",
  })
  void missingCompilersOnAGpuAreNamedOfCpp(
      String request, String mentioned, Status status, String message, @TempDir Path folder)
      throws Exception {
    try (Workers without = FakeWorkers.withoutCompilers(folder)) {
      Slot gpu = without.slot(DeviceSlot.cuda(FakeWorkers.OF_KNOWN_ARCHITECTURE));
      Judgement verdict =
          judgeOn(gpu, Map.of(request, List.of(lacking("")), mentioned, "mentioned"));
      assertThat(verdict.status()).as(verdict.message()).isEqualTo(status);
      assertThat(verdict.message()).startsWith(message);
    }
  }

  @Test
  void silentRunnerTimesOut() throws Exception {
    Plan hasty = FakeWorkers.plan(Duration.ofSeconds(1), Duration.ofSeconds(60));
    Judgement verdict = judge(hasty, "task", Map.of("call", List.of()));
    assertThat(verdict.status()).isEqualTo(Status.TIMEOUT);
  }

  private static final String BEGUN = "{\"type\":\"compiling\",\"begun\":true}";

  @Test
  void compileTimeIsNotCallTime() throws Exception {
    String returned =
        "{\"type\":\"returned\",\"id\":$id,\"value\":{\"t\":\"none\"},\"seconds\":0,"
            + "\"launches\":1,\"configurations\":[],\"unguarded\":[],\"compiled\":[],\"origin\":{\"elements\":0,\"own\":0,\"volume\":0,"
            + "\"foreign\":0,\"operations\":[],\"launches\":0,\"copies\":0,\"used\":false}}";
    String ended = BEGUN.replace("true", "false");
    assertThat(answering("call", BEGUN, ended, BEGUN, returned).status()).isEqualTo(Status.CORRECT);
  }

  /** That others have the processors is believed up to nine limits. */
  @Test
  void waitForAProcessorIsBounded() throws Exception {
    Plan hasty = FakeWorkers.plan(Duration.ofMillis(200), Duration.ofSeconds(60));
    Judgement verdict = judge(hasty, "task", Map.of("call", List.of(), "waited", 1e6));
    assertThat(verdict.status()).isEqualTo(Status.TIMEOUT);
  }

  @Test
  void oracleTimeIsNotTheCandidates(@TempDir Path folder) throws Exception {
    Plan brief = FakeWorkers.plan(Duration.ofSeconds(10), Duration.ofMillis(500));
    FakeClock clock = FakeClock.in(folder);
    try (Workers own = FakeWorkers.start(clock)) {
      Judgement verdict = judgeOn(FakeWorkers.slot(own, 0), brief, "slow", Map.of());
      assertThat(verdict.status()).as(verdict.message()).isEqualTo(Status.CORRECT);
    }
    assertThat(Duration.ofNanos(clock.getAsLong())).isGreaterThan(brief.limits().correctness());
  }

  /** Attaching is done before any of the candidate's code is there. */
  @Test
  void runnerLostBeforeLoadingIsInfrastructure() throws Exception {
    Judgement verdict = judge(FakeWorkers.plan(FakeWorkers.NO_ATTACHING), "task", Map.of());
    assertThat(verdict.status()).isEqualTo(Status.INFRASTRUCTURE);
    assertThat(verdict.message()).contains("; kbx fails on an empty candidate in its place, too: ");
    assertThat(verdict.callOk()).isNull();
  }

  /** It has answered, and one that is started anew would say the same. */
  @Test
  void oracleStaysWhoseDeviceCannotHaveTheTask() throws Exception {
    try (Workers own = FakeWorkers.start()) {
      Slot slot = FakeWorkers.slot(own, 0);
      Oracle before = oracle(slot);
      Judgement verdict = judgeOn(slot, FakeWorkers.plan(), "huge", Map.of());
      assertThat(verdict.status()).isEqualTo(Status.INFRASTRUCTURE);
      assertThat(verdict.message()).startsWith("4 TiB need a GPU; kbx fails on an empty candidate");
      assertThat(oracle(slot)).isSameAs(before);
    }
  }

  private static Oracle oracle(Slot slot) throws InterruptedException {
    try (OraclePool.Borrowed borrowed = slot.borrow()) {
      borrowed.sound();
      return borrowed.oracle();
    }
  }

  @Test
  void surplusAnswerAfterTheLastCallIsEvidence() throws Exception {
    Judgement verdict = judge(FakeWorkers.plan(), "once", Map.of("call", List.of(HONEST, HONEST)));
    assertThat(verdict.status()).isEqualTo(Status.CHEATING);
  }

  @Test
  void aZygoteThatDiesIsReplacedAndFailsTheCandidateThatKillsIt() throws Exception {
    Judgement spoiled = judge(Map.of("zygote", "die"));
    assertThat(spoiled.status()).isEqualTo(Status.RUNTIME_ERROR);
    assertThat(spoiled.message()).startsWith("kbx fails on this candidate each time");
    assertThat(spoiled.message()).contains("exit code 7").contains("famous last words");
    assertThat(judge(Map.of()).status()).isEqualTo(Status.CORRECT);
  }

  @Test
  void zygoteWithInvalidFramesIsReplaced() throws Exception {
    judge(Map.of("zygote", "babble"));
    Judgement next = judge(Map.of());
    assertThat(next.status()).as(next.message()).isEqualTo(Status.CORRECT);
  }
}
