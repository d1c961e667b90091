package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.SectionText;
import dev.kbx.SimulatedRun;
import dev.kbx.analysis.Iterations.OfMethod;
import dev.kbx.section.IterationsSection;
import dev.kbx.verdict.Status;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Rounds of refinement, with the counts of KernelBench-X's published corpus of iterations. */
class IterationsTest {
  private static Iterations of(SimulatedRun... runs) {
    return Iterations.of(
        new SelectedRuns(
            List.of(runs).stream()
                .map(run ->
                    new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), Map.of()))
                .toList()),
        List.of());
  }

  /** A round that kbx could not judge is not the end of an attempt. */
  @Test
  void infrastructureFailuresDoNotEndAnAttempt() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.CPU, 1).by("refine");
    run.round(0).untimed("M/a", "a").wrong("M/b", "b", Status.WRONG_VALUES);
    run.wrong("M/c", "c", Status.INFRASTRUCTURE).untimed("M/d", "d").untimed("M/e", "e");
    run.round(1).wrong("M/a", "a1", Status.INFRASTRUCTURE);
    run.wrong("M/b", "b1", Status.INFRASTRUCTURE).untimed("M/c", "c1").untimed("M/d", "d1");
    Iterations.Step step = of(run).methods().getFirst().steps().getFirst();
    assertThat(step.both()).isEqualTo(1);
    assertThat(step.endedCorrect()).as("M/e").isEqualTo(1);
    assertThat(step.endedWrong()).isZero();
    assertThat(step.notJudged()).isEqualTo(3);
    assertThat(SectionText.of(100, IterationsSection.of(of(run))))
        .contains("0 to 1: left out, as kbx could not judge one of the rounds: 3 attempts.");
  }

  /** Tasks are solved from this round on; -1 for never. */
  private static int solvedFrom(int task) {
    if (task < 32) return 0;
    if (task < 47) return 1;
    return task < 55 ? 2 : -1;
  }

  /**
   * Rounds of 176 tasks with the published counts: 92, 114, 121 can be called, 32, 47, 54 are
   * correct; the first one solved is lost in the last round. In each step so many speedups increase
   * as in the corpus, most of byte-identical sources, the others by 2 %.
   */
  private static SimulatedRun published() {
    int[] called = {92, 114, 121};
    int[] increases = {24, 19};
    int[] identical = {16, 12};
    SimulatedRun run = SimulatedRun.on(SimulatedRun.H200, 1).by("refine");
    for (int round = 0; round < 3; round++) {
      run.round(round);
      for (int task = 0; task < 176; task++) {
        String name = "C%d/t%d".formatted(task % 16, task);
        int from = solvedFrom(task);
        boolean correct = from >= 0 && from <= round && !(task == 0 && round == 2);
        double level = from == 0 ? 1.58 : 1.16;
        int written = round;
        for (int step = 0; step < round; step++) {
          if (from > step) continue;
          // Task 0 is lost in the last step, so that the next ones are those that increase.
          boolean increased = task > 0 && task <= increases[step];
          boolean same = task > 0 && task <= identical[step];
          if (increased) level *= same ? 1.01 : 1.02;
          if (!same) written = step + 1;
          else if (step == 0) written = 0;
        }
        String code = "%d of round %d".formatted(task, written);
        if (correct) run.correct(name, code, level);
        else if (task < called[round]) run.wrong(name, code, Status.WRONG_VALUES);
        else run.uncallable(name, code, Status.COMPILE_ERROR);
      }
    }
    return run;
  }

  @Test
  void publishedCountsAreReproduced() {
    OfMethod method = of(published()).methods().getFirst();
    assertThat(method.rounds().stream().map(Iterations.Round::called))
        .containsExactly(92, 114, 121);
    assertThat(method.rounds().stream().map(Iterations.Round::correct)).containsExactly(32, 47, 54);
    assertThat(method.rounds().stream().map(Iterations.Round::solved))
        .as("the lost one was solved before")
        .containsExactly(32, 47, 55);
    assertThat(method.asked()).isEqualTo(176);
    assertThat(method.rounds().getLast().share()).isCloseTo(55 / 176.0, within(1e-12));
    Iterations.Step first = method.steps().get(0);
    Iterations.Step second = method.steps().get(1);
    assertThat(first.rescued()).isEqualTo(15);
    assertThat(first.regressed()).isZero();
    assertThat(first.persistent()).isEqualTo(32);
    assertThat(first.unresolved()).isEqualTo(129);
    assertThat(second.rescued()).isEqualTo(8);
    assertThat(second.regressed()).isEqualTo(1);
    assertThat(second.persistent()).isEqualTo(46);
    assertThat(second.compared().pValue()).isCloseTo(2 * 10 / 512.0, within(1e-9));
  }

  @Test
  void identicalSourcesAreNoise() {
    OfMethod method = of(published()).methods().getFirst();
    Iterations.Speed first = requireNonNull(method.steps().get(0).speed());
    assertThat(first.increases()).isEqualTo(24);
    assertThat(first.identicalIncreases()).isEqualTo(16);
    assertThat(first.identical()).isEqualTo(16);
    assertThat(first.floor()).isCloseTo(0.01, within(1e-9));
    assertThat(first.largest()).isCloseTo(0.02, within(1e-9));
    assertThat(first.gains()).containsEntry("1%", 8).containsEntry("5%", 0);
    assertThat(first.faster()).as("intervals of 1 % overlap").isZero();
    Iterations.Speed second = requireNonNull(method.steps().get(1).speed());
    assertThat(second.increases()).isEqualTo(19);
    assertThat(second.identicalIncreases()).isEqualTo(12);
    assertThat(second.gains()).containsEntry("5%", 0);
  }

  @Test
  void identicalSourceIsNeverFaster() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.H200, 1).by("refine");
    run.round(0).correct("M/a", "same", 1).correct("M/b", "b0", 1);
    run.round(1).correct("M/a", "same", 2).correct("M/b", "b1", 1.5);
    Iterations.Speed speed =
        requireNonNull(of(run).methods().getFirst().steps().getFirst().speed());
    assertThat(speed.floor()).isCloseTo(1, within(1e-9));
    assertThat(speed.faster()).as("half of what noise moves").isZero();
    assertThat(speed.identicalIncreases()).isEqualTo(1);
    assertThat(requireNonNull(speed.changed()).value()).isCloseTo(1.5, within(1e-9));
  }

  @Test
  void meanThatFallsByNewlySolvedTasksIsExplained() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.H200, 1).by("refine");
    run.round(0).correct("M/a", "a", 1.58).wrong("M/b", "b0", Status.TIMEOUT);
    run.round(1).correct("M/a", "a", 1.58).correct("M/b", "b1", 1.16);
    Iterations.Step step = of(run).methods().getFirst().steps().getFirst();
    Iterations.Speed speed = requireNonNull(step.speed());
    assertThat(requireNonNull(speed.then()).geometric()).isCloseTo(1.58, within(1e-9));
    assertThat(requireNonNull(speed.now()).geometric())
        .isCloseTo(Math.sqrt(1.58 * 1.16), within(1e-9));
    assertThat(speed.change()).isCloseTo(1, within(1e-12));
    assertThat(speed.composition()).isCloseTo(Math.sqrt(1.16 / 1.58), within(1e-9));
    assertThat(requireNonNull(speed.rescued()).geometric()).isCloseTo(1.16, within(1e-9));
    assertThat(requireNonNull(speed.persistent()).arithmetic()).isCloseTo(1.58, within(1e-9));
    assertThat(requireNonNull(speed.now()).arithmetic()).isCloseTo(1.37, within(1e-9));
  }

  @Test
  void anAttemptThatEndsIsNeitherRescuedNorRegressed() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.CPU, 1).by("refine");
    run.round(0).untimed("M/a", "a").wrong("M/b", "b0", Status.TIMEOUT);
    run.wrong("M/c", "c0", Status.TIMEOUT);
    run.round(1).untimed("M/b", "b1");
    Iterations.Step step = of(run).methods().getFirst().steps().getFirst();
    assertThat(step.both()).isEqualTo(1);
    assertThat(step.rescued()).isEqualTo(1);
    assertThat(step.endedCorrect()).isEqualTo(1);
    assertThat(step.endedWrong()).isEqualTo(1);
    assertThat(step.speed()).isNull();
    assertThat(of(run).methods().getFirst().rounds().getLast().solved()).isEqualTo(2);
  }

  @Test
  void roundsMayBeSeparateRunsBesideSingleRuns() {
    SimulatedRun zero = SimulatedRun.on(SimulatedRun.CPU, 1).by("refine").round(0);
    zero.wrong("M/a", "a0", Status.TIMEOUT);
    SimulatedRun one = SimulatedRun.on(SimulatedRun.CPU, 2).by("refine").round(1);
    one.untimed("M/a", "a1");
    SimulatedRun single = SimulatedRun.on(SimulatedRun.CPU, 3).by("sample");
    single.untimed("M/a", "s0").wrong("M/a", "s1", Status.TIMEOUT);
    assertThat(of(zero, one).methods().getFirst().steps().getFirst().rescued()).isEqualTo(1);
    Iterations all = of(published(), single);
    assertThat(all.singles().stream().map(Iterations.Singles::value)).containsExactly(0.5, 1.0);
    assertThatThrownBy(() -> of(single))
        .isInstanceOf(IncomparableRuns.class)
        .hasMessageContaining("no rounds in run");
  }

  @Test
  void samplesOfATaskCountAsOneTask() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.CPU, 1).asking("*", 2).by("refine");
    for (int round = 0; round < 2; round++) {
      run.round(round);
      for (int sample = 0; sample < 8; sample++) {
        String code = "%d.%d".formatted(sample, round);
        if (round == 1 && sample < 6) run.untimed("M/a", code);
        else run.wrong("M/a", code, Status.TIMEOUT);
      }
    }
    OfMethod method = of(run).methods().getFirst();
    assertThat(method.attempts()).isEqualTo(8);
    assertThat(method.rounds().getLast().solved()).isEqualTo(6);
    assertThat(method.rounds().getLast().share()).as("of the task tried").isEqualTo(0.75);
    assertThat(method.steps().getFirst().rescued()).isEqualTo(6);
    assertThat(method.steps().getFirst().compared().pValue()).as("one task").isEqualTo(1);
  }
}
