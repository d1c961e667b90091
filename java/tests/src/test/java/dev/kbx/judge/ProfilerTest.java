package dev.kbx.judge;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import dev.kbx.device.Workers;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Grade;
import dev.kbx.plan.L2State;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Tolerance;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Profile;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a profile adds to a verdict, and that nothing else depends on it. */
@Timeout(Patience.SECONDS)
class ProfilerTest {
  /** On a machine of this architecture the counters may not be read. */
  private static final String DENIED = "sm_1";

  private final List<String> notices = new ArrayList<>();
  private final Workers workers = FakeWorkers.start(notices::add);
  private final JudgingSlot judgingSlot = FakeWorkers.judgingSlot(workers.slot(DeviceSlot.cuda(0)));

  @AfterEach
  void close() {
    workers.close();
  }

  private Judgement judge(String arch, boolean profile, String task, Map<String, ?> script)
      throws Exception {
    Plan plan =
        new Plan(
            List.of(Stage.CALL, Stage.CORRECT, Stage.PERF),
            FakeWorkers.plan().rules(),
            arch,
            "secret",
            FakeWorkers.plan().limits(),
            Tolerance.MODEL,
            Grade.GENERAL,
            ModulePrecision.FP32,
            Optional.empty(),
            Baseline.EAGER,
            L2State.COLD,
            profile,
            false,
            true);
    return new Judge(judgingSlot, plan, FakeWorkers.DEVICE, Map.of())
        .judge(FakeWorkers.candidate(task, script));
  }

  private Profile profile(Map<String, ?> script) throws Exception {
    Judgement verdict = judge("sm_90", true, "timed", script);
    assertThat(verdict.status()).isEqualTo(Status.CORRECT);
    assertThat(requireNonNull(verdict.speedup()).value()).isGreaterThan(1.9);
    return requireNonNull(verdict.profile());
  }

  private Profile claiming(String kernels) throws Exception {
    String answer =
        "{\"type\":\"profiled\",\"id\":$id,\"seconds\":0,\"kernels\":[" + kernels + "]}";
    return profile(Map.of("profile", List.of(answer)));
  }

  @Test
  void timedCandidateIsProfiledAtItsLargestSize() throws Exception {
    Profile profile = profile(Map.of());
    assertThat(profile.shape()).isEqualTo("n=1");
    assertThat(profile.kernels())
        .containsExactly(
            new Profile.Kernel(
                "f_kernel", 2, 0.25, 40, 61.5, 75.0, 91.25, 12.5, "long_scoreboard", 60.0));
    assertThat(notices).isEmpty();
  }

  @Test
  void profileSurvivesStorage() throws Exception {
    Judgement verdict = judge("sm_90", true, "timed", Map.of());
    String line = Json.mapper().writeValueAsString(verdict);
    assertThat(line).contains("\"achieved_occupancy_pct\":61.5", "\"duration_ms\":0.25");
    assertThat(Json.mapper().readValue(line, Verdict.class).judgement().profile())
        .isEqualTo(verdict.profile());
  }

  @Test
  void profileNeedsItsOption() throws Exception {
    Judgement verdict = judge("sm_90", false, "timed", Map.of());
    assertThat(verdict.profile()).isNull();
    assertThat(Json.mapper().writeValueAsString(verdict)).doesNotContain("profile");
  }

  @Test
  void untimedCandidateIsNotProfiled() throws Exception {
    assertThat(judge("sm_90", true, "task", Map.of()).profile()).isNull();
    Judgement crashed = judge("sm_90", true, "timed", Map.of("measure", List.of("signal 11")));
    assertThat(crashed.status()).isEqualTo(Status.CRASHED);
    assertThat(crashed.profile()).isNull();
  }

  @Test
  void missingPermissionIsReportedOnce() throws Exception {
    for (int i = 0; i < 3; i++) {
      Judgement verdict = judge(DENIED, true, "timed", Map.of());
      assertThat(verdict.status()).isEqualTo(Status.CORRECT);
      assertThat(requireNonNull(verdict.profile()).failure()).contains("ERR_NVGPUCTRPERM");
      assertThat(verdict.profile().kernels()).isNull();
    }
    assertThat(notices)
        .singleElement()
        .asString()
        .startsWith("nothing is profiled: ncu (exit code 0): ERR_NVGPUCTRPERM");
  }

  @Test
  void candidateCannotDisableProfilingForOthers() throws Exception {
    String denied =
        "{\"type\":\"profiled\",\"id\":$id,\"seconds\":0,\"failure\":\"ERR_NVGPUCTRPERM\"}";
    assertThat(profile(Map.of("profile", List.of(denied))).failure()).isEqualTo("ERR_NVGPUCTRPERM");
    assertThat(profile(Map.of()).kernels()).hasSize(1);
    assertThat(notices).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "signal 11 | killed by signal 11",
        "exit 3 | exited with code 3",
        "gibberish | no kernel does",
        "{\"type\":\"profiled\",\"id\":$id,\"seconds\":0} | no figures",
        "{\"type\":\"profiled\",\"id\":$id,\"seconds\":0,\"failure\":\"\\u001b[2J\\n\"} | [2J",
        "{\"type\":\"returned\",\"id\":$id,\"seconds\":0} | no kernel does",
      })
  void failureOfOneProfileDoesNotAffectTheNext(String answer, String failure) throws Exception {
    Profile profile = profile(Map.of("profile", List.of(answer)));
    assertThat(profile.kernels()).isNull();
    assertThat(requireNonNull(profile.failure())).contains(failure).doesNotContain("\u001b");
    assertThat(profile(Map.of()).kernels()).hasSize(1);
  }

  @Test
  void aTaskWhoseShapesCannotBeTracedHasNoProfile() throws Exception {
    Judgement verdict = judge("sm_90", true, "unknown", Map.of());
    assertThat(verdict.status()).isEqualTo(Status.CORRECT);
    assertThat(requireNonNull(verdict.profile()).failure()).isEqualTo("shapes depend on values");
  }

  @Test
  void impossibleCountersAreDropped() throws Exception {
    String name = "k".repeat(300);
    Profile profile =
        claiming(
            """
            {"kernel":"%s","launches":-1,"duration_ms":1,"registers":-4,\
            "achieved_occupancy_pct":-1,"theoretical_occupancy_pct":1e9,"dram_pct":"NaN",\
            "sm_pct":0,"stall":"<script>","stall_pct":50},\
            {"kernel":"no time"},{"kernel":"backwards","duration_ms":-1},\
            {"kernel":"never","duration_ms":"Infinity"}\
            """
                .formatted(name)
                .strip());
    assertThat(profile.kernels())
        .containsExactly(
            new Profile.Kernel(
                "k".repeat(200) + "…", 1, 1, null, null, null, null, 0.0, null, null));
    String many = "{\"kernel\":\"k\",\"duration_ms\":1},".repeat(99);
    assertThat(claiming(many + "{\"kernel\":\"k\",\"duration_ms\":1}").kernels()).hasSize(5);
  }
}
