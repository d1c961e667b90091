package dev.kbx.judge;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.Patience;
import dev.kbx.candidate.Candidate;
import dev.kbx.plan.Plan;
import dev.kbx.timing.RawRounds;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A candidate beside an expert's kernel. */
@Timeout(Patience.SECONDS)
class ExpertTimingTest extends TimingCase {
  /** A candidate of 50 ms a call beside an expert's kernel, where eager takes 100. */
  private static Judgement besideExpert(String task, Map<String, ?> expert) throws Exception {
    return besideExpert(task, Map.of(), expert);
  }

  private static Judgement besideExpert(String task, Map<String, ?> script, Map<String, ?> expert)
      throws Exception {
    Candidate candidate = FakeWorkers.candidate(task, script);
    Plan plan =
        new Plan(
                List.of(Stage.CALL, Stage.CORRECT, Stage.PERF),
                FakeWorkers.plan().rules(),
                "sm_90",
                "secret",
                FakeWorkers.plan().limits())
            .beside(Map.of(candidate.task().path(), FakeWorkers.candidate(task, expert).code()));
    return new Judge(judgingSlot, plan, FakeWorkers.DEVICE, Map.of()).judge(candidate);
  }

  private static Verdict.Baseline expertOf(Judgement verdict) {
    List<Verdict.Baseline> baselines = requireNonNull(verdict.baselines());
    assertThat(baselines).extracting(Verdict.Baseline::name).containsExactly("eager", "expert");
    return baselines.getLast();
  }

  @Test
  void expertIsTimedInTheSameRoundsAsCandidateAndEager() throws Exception {
    Judgement verdict = besideExpert("timed", Map.of("measure", List.of(measured(40, 40, 40, 40))));
    assertThat(speedup(verdict)).isCloseTo(2, within(1e-6));
    Verdict.Baseline expert = expertOf(verdict);
    assertThat(requireNonNull(expert.speedup())).isCloseTo(0.8, within(1e-6));
    assertThat(requireNonNull(expert.low())).isLessThan(0.8);
    assertThat(requireNonNull(expert.high())).isGreaterThan(0.8);
    assertThat(expert.sizesMs()).containsExactly(40.0);
    Verdict.SizeTiming size = requireNonNull(verdict.sizes()).getFirst();
    var rows = RawRounds.rows(requireNonNull(expert.raw()).getFirst());
    assertThat(rows).hasSize(size.rounds());
    RawRounds.Figures figures = RawRounds.figures(rows);
    assertThat(figures.referenceMs()).isEqualTo(40);
    assertThat(figures.candidateMs()).isEqualTo(size.candidateMs());
  }

  @Test
  void weightedSizesHaveTheShareOfTheExpertsTotalTime() throws Exception {
    Judgement verdict =
        besideExpert("weighted", Map.of("measure", List.of(measured(40, 40, 40, 40))));
    Verdict.Baseline expert = expertOf(verdict);
    assertThat(requireNonNull(expert.speedup())).isCloseTo(0.8, within(1e-6));
    assertThat(requireNonNull(expert.geometric()).value()).isCloseTo(0.8, within(1e-6));
  }

  @Test
  void expertThatFailsWhileItIsTimedHasNoShare() throws Exception {
    Judgement verdict = besideExpert("timed", Map.of("measure", List.of("exit 3")));
    assertThat(speedup(verdict)).isCloseTo(2, within(1e-6));
    Verdict.Baseline expert = expertOf(verdict);
    assertThat(expert.speedup()).isNull();
    assertThat(expert.failure()).startsWith("crashed: ");
  }

  /** As launched the candidate takes 20 us and the expert 30, as graphs 5 and 4. */
  private static Judgement briefBesideExpert(Map<String, ?> more) throws Exception {
    Map<String, Object> expert = new HashMap<>(more);
    expert.put("measure", List.of(measured(0.03, 0.03, 0.03, 0.03)));
    expert.put("replay_calls", List.of(measured(0.004, 0.004, 0.004, 0.004)));
    return besideExpert(
        "brief", Map.of("measure", List.of(measured(0.02, 0.02, 0.02, 0.02))), expert);
  }

  @Test
  void sizesThatWaitForTheHostAreTimedAsGraphsOfTheExpertToo() throws Exception {
    Judgement verdict = briefBesideExpert(Map.of());
    assertThat(requireNonNull(verdict.sizes()).getFirst().candidateMs()).isEqualTo(0.005);
    Verdict.Baseline expert = expertOf(verdict);
    assertThat(requireNonNull(expert.speedup())).isCloseTo(0.8, within(1e-6));
    assertThat(expert.sizesMs()).containsExactly(0.004);
  }

  @Test
  void expertThatCannotBeRecordedKeepsItsShareOfLaunchedCalls() throws Exception {
    Judgement verdict = briefBesideExpert(Map.of("record_calls", List.of("exit 3")));
    assertThat(requireNonNull(verdict.sizes()).getFirst().candidateMs()).isEqualTo(0.005);
    Verdict.Baseline expert = expertOf(verdict);
    assertThat(requireNonNull(expert.speedup())).isCloseTo(1.5, within(1e-6));
    assertThat(expert.sizesMs()).containsExactly(0.03);
  }
}
