package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.Patience;
import dev.kbx.TestPython;
import dev.kbx.candidate.Candidate;
import dev.kbx.check.Rules;
import dev.kbx.device.PeakCache;
import dev.kbx.device.Slot;
import dev.kbx.device.Workers;
import dev.kbx.judge.BinaryCache;
import dev.kbx.judge.LocalReferee;
import dev.kbx.judge.Repeats;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Task;
import dev.kbx.timing.BaselineCache;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the noise command judges is right, on real workers. */
class NoiseCandidatesTest {
  private static final String TASKS =
      "abs,addmm,conv2d,Adam,masked_select,fused_dropout_sigmoid_linear";

  private static final List<Task> FOUND = Bundled.suite("kernelbenchx").find(TASKS);

  @BeforeAll
  static void provision() {
    TestPython.interpreter();
  }

  @Test
  @Tag("soak-only")
  @Timeout(Patience.SECONDS)
  void referencesAndTwinsAreCorrectCandidates() throws Exception {
    List<Candidate> candidates = new ArrayList<>(NoiseCandidates.references(FOUND, 1));
    candidates.addAll(NoiseCandidates.plain(1));
    candidates.addAll(NoiseCandidates.slowed(1));
    Plan plan =
        new Plan(
            List.of(Stage.CALL, Stage.CORRECT), Rules.all(), "sm_90", "secret", Limits.defaults());
    try (Workers workers = workers()) {
      Slot slot = workers.slot(DeviceSlot.cpu(0));
      Verdict.Device device = new Verdict.Device("cpu", "here", null, null, null);
      BaselineCache baselines =
          new BaselineCache(TestPython.home().resolve("target").resolve("baselines"), _ -> {});
      List<Verdict> verdicts =
          new Repeats(
                  new LocalReferee(
                      List.of(slot),
                      device,
                      Map.of(),
                      baselines,
                      BinaryCache.in(
                          TestPython.home().resolve("target").resolve("compiled"), _ -> {}),
                      SyntaxCheck.PARSER),
                  plan)
              .judge(candidates, _ -> {});
      assertThat(verdicts)
          .allSatisfy(verdict ->
              assertThat(verdict.judgement().status())
                  .as(
                      "%s: %s %s",
                      verdict.provenance().task(),
                      verdict.judgement().message(),
                      verdict.judgement().evidence())
                  .isEqualTo(Status.CORRECT));
      assertThat(verdicts).filteredOn(NoiseCandidates::isPlain).hasSize(1);
      assertThat(verdicts).filteredOn(NoiseCandidates::isSlowed).hasSize(1);
    }
  }

  private static Workers workers() {
    return new Workers(
        TestPython.interpreter().executable(),
        TestPython.home(),
        PeakCache.nowhere(),
        TestPython.home().resolve("target").resolve("compilers"),
        _ -> {});
  }

  @Test
  void eachRepeatHasADistinctSource() {
    List<Candidate> candidates = NoiseCandidates.references(FOUND, 3);
    assertThat(candidates.stream().map(Candidate::hash).distinct()).hasSize(3 * FOUND.size());
    assertThat(candidates.subList(0, FOUND.size()))
        .extracting(candidate -> candidate.task().name())
        .doesNotHaveDuplicates();
  }
}
