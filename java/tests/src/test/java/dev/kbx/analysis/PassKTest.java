package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.SectionText;
import dev.kbx.SimulatedRun;
import dev.kbx.analysis.PassK.At;
import dev.kbx.analysis.PassK.Measure;
import dev.kbx.analysis.PassK.Pass;
import dev.kbx.section.PassKSection;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PassKTest {
  private static SimulatedRun run() {
    return SimulatedRun.on(SimulatedRun.H200, 1);
  }

  private static PassK of(SimulatedRun run, Integer... ks) {
    JudgedRun judged = run.judged();
    List<PassK> all = PassK.of(judged, SelectedTasks.counted(judged), List.of(ks));
    assertThat(all).hasSize(1);
    return all.getFirst();
  }

  private static Measure measure(PassK pass, Pass wanted) {
    return pass.measures().stream().filter(m -> m.pass() == wanted).findFirst().orElseThrow();
  }

  private static List<At> overall(PassK pass, Pass wanted) {
    return requireNonNull(measure(pass, wanted).overall()).at();
  }

  /** {@code correct} samples at this speed, then {@code wrong} ones. */
  private static void samples(
      SimulatedRun run, String task, int correct, int wrong, double speedup) {
    for (int i = 0; i < correct; i++) run.correct(task, task + i, speedup);
    for (int i = 0; i < wrong; i++) run.wrong(task, task + " wrong " + i, Status.WRONG_VALUES);
  }

  @Test
  void valuesAreMeansOverTasks() {
    SimulatedRun run = run();
    samples(run, "Math/a", 3, 7, 1.5); // 0.3, 231/252, 1
    samples(run, "Math/b", 1, 9, 0.9); // 0.1, 0.5, 1
    samples(run, "Loss/c", 0, 9, 1);
    run.uncallable("Loss/c", "c", Status.RUNTIME_ERROR); // called: 0.9, 1, 1
    PassK pass = of(run, 10, 1, 5);
    assertThat(pass.ks()).containsExactly(1, 5, 10);
    List<At> correct = overall(pass, Pass.CORRECT);
    assertThat(correct).extracting(At::tasks).containsExactly(3, 3, 3);
    assertThat(correct.getFirst().value()).isCloseTo(0.4 / 3, within(1e-12));
    assertThat(correct.get(1).value()).isCloseTo((231 / 252.0 + 0.5) / 3, within(1e-12));
    assertThat(correct.getLast().value()).isCloseTo(2 / 3.0, within(1e-12));
    assertThat(overall(pass, Pass.CALLED).getFirst().value()).isCloseTo(2.9 / 3, within(1e-12));
    assertThat(overall(pass, Pass.CALLED))
        .extracting(at -> requireNonNull(at.allPass()).value())
        .as("of c C(9, k) / C(10, k)")
        .satisfiesExactly(
            one -> assertThat(one).isCloseTo(2.9 / 3, within(1e-12)),
            five -> assertThat(five).isCloseTo(2.5 / 3, within(1e-12)),
            ten -> assertThat(ten).isCloseTo(2 / 3.0, within(1e-12)));
    assertThat(SectionText.of(140, PassKSection.of(pass)))
        .contains("pass^5", "83.3 % [50–100] of 3")
        .doesNotContain("pass^1 ");
    assertThat(overall(pass, Pass.FAST).getFirst().value()).isCloseTo(0.1, within(1e-12));
    assertThat(measure(pass, Pass.CORRECT).categories())
        .extracting(group -> group.at().getLast().value())
        .containsExactly(0.0, 1.0);
    assertThat(pass.rows()).hasSize(3);
    assertThat(pass.rows().getFirst()).isEqualTo(new PassK.Row("Loss", "c", 10, 9, 0, 0, 0, 0));
  }

  @Test
  void tasksWithFewerThanKSamplesAreLeftOutAndCounted() {
    SimulatedRun run = run();
    samples(run, "Math/a", 5, 5, 1.5);
    samples(run, "Math/b", 0, 4, 1.5);
    PassK pass = of(run, 1, 5, 20);
    List<At> correct = overall(pass, Pass.CORRECT);
    assertThat(correct).extracting(At::tasks).containsExactly(2, 1, 0);
    assertThat(correct.getFirst().value()).isEqualTo(0.25);
    assertThat(requireNonNull(correct.get(1).value())).as("of a alone").isGreaterThan(0.99);
    assertThat(correct.get(1).low()).as("one task has no interval").isNull();
    assertThat(correct.getLast().value()).isNull();
    assertThat(correct.getLast().unknown())
        .isEqualTo("no task has 20 judged samples; the most is 10");
    assertThat(SectionText.of(80, PassKSection.of(pass)))
        .contains(
            "25.0 % [0–50] of 2",
            "– pass@20 unknown: no task has 20 judged samples; the most is 10.",
            "Different k cover different tasks, from 1 to 2");
  }

  @Test
  void theGeneralGradeIsACriterion() {
    SimulatedRun run = run();
    samples(run, "Math/a", 2, 2, 1.5);
    run.published("Math/b", "b");
    run.correct("Math/b", "b all", 1.5);
    PassK pass = of(run, 1, 2);
    assertThat(overall(pass, Pass.CORRECT).getFirst().value()).isCloseTo(0.75, within(1e-12));
    assertThat(overall(pass, Pass.GENERAL).getFirst().value()).isCloseTo(0.5, within(1e-12));
    assertThat(pass.rows()).extracting(PassK.Row::general).containsExactly(2, 1);
    run.ofUnknownGrade("Math/b", "b unknown");
    At unknown = overall(of(run, 1), Pass.GENERAL).getFirst();
    assertThat(unknown.value()).isNull();
    assertThat(unknown.unknown())
        .isEqualTo("tasks with correct samples of which the general grade is not known: 1");
  }

  @Test
  void moreSamplesNeverGiveLessOnTheSameTasks() {
    var random = new Random(20_261_122);
    for (int i = 0; i < 20; i++) {
      SimulatedRun run = run();
      for (String task : List.of("a", "b", "c", "d", "e")) {
        int correct = random.nextInt(11);
        samples(run, "Math/" + task, correct, 10 - correct, 0.5 + random.nextDouble());
      }
      PassK pass = of(run, 1, 2, 3, 5, 9, 10);
      for (Pass wanted : Pass.values()) {
        List<Double> values =
            overall(pass, wanted).stream().map(at -> requireNonNull(at.value())).toList();
        assertThat(values).isSorted();
      }
    }
  }

  @Test
  void aCorrectSampleWithoutASpeedupMakesFastUnknown() {
    SimulatedRun run = run();
    samples(run, "Math/a", 2, 0, 1.5);
    samples(run, "Loss/b", 2, 0, 0.5);
    run.untimed("Math/a", "untimed");
    PassK pass = of(run, 1);
    At fast = overall(pass, Pass.FAST).getFirst();
    assertThat(fast.value()).isNull();
    assertThat(fast.unknown()).isEqualTo("correct samples without a speedup against eager: 1");
    assertThat(measure(pass, Pass.FAST).categories().getFirst().at().getFirst().value())
        .as("Loss")
        .isZero();
    assertThat(overall(pass, Pass.CORRECT).getFirst().value()).isEqualTo(1);
  }

  @Test
  void unmeasuredCriterionNamesTheReason() {
    PassK cpu = of(SimulatedRun.on(SimulatedRun.CPU, 1).correct("Math/a", "a", 1), 1);
    assertThat(measure(cpu, Pass.FAST).overall()).isNull();
    PassK wrong = of(SimulatedRun.on(SimulatedRun.CPU, 1).wrong("Math/a", "a", Status.TIMEOUT), 1);
    assertThat(wrong.rows().getFirst().fast()).as("nothing was timed").isNull();
    assertThat(measure(cpu, Pass.FAST).unknown()).contains("the run used no GPU");
    PassK called = of(run().stages(Stage.STATIC, Stage.CALL).untimed("Math/a", "a"), 1);
    assertThat(measure(called, Pass.CORRECT).unknown())
        .isEqualTo("the correct stage was not asked for");
    assertThat(overall(called, Pass.CALLED).getFirst().value()).isEqualTo(1);
    assertThat(SectionText.of(80, PassKSection.of(called)))
        .contains("correct: unknown: the correct stage was not asked for.");
  }

  @Test
  void samplesWithInfrastructureFailuresDoNotCount() {
    PassK pass =
        of(
            run()
                .correct("Math/a", "a0", 1.2)
                .wrong("Math/a", "a1", Status.INFRASTRUCTURE)
                .wrong("Math/b", "b0", Status.INVALID_TASK),
            1,
            2);
    assertThat(overall(pass, Pass.CORRECT)).extracting(At::tasks).containsExactly(1, 0);
    assertThat(SectionText.of(80, PassKSection.of(pass)))
        .contains("2 of 3 candidates", "are no samples");
  }
}
