package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.SimulatedRun;
import dev.kbx.analysis.Deviance.Measure;
import dev.kbx.document.Block;
import dev.kbx.section.DevianceSection;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Explained deviance, by the published counts and by R's and statsmodels' answers. */
class DevianceTest {
  private static SimulatedRun run(int number) {
    return SimulatedRun.on(SimulatedRun.CPU, number);
  }

  private static Deviance of(SimulatedRun... runs) {
    return Deviance.of(new SelectedRuns(List.of(runs).stream().map(DevianceTest::asked).toList()));
  }

  private static SelectedRun asked(SimulatedRun run) {
    return new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), Map.of());
  }

  private static Measure correct(Deviance deviance) {
    return of(deviance, Outcome.CORRECT);
  }

  private static Measure of(Deviance deviance, Outcome outcome) {
    return deviance.outcomes().stream()
        .filter(measure -> measure.outcome() == outcome)
        .findAny()
        .orElseThrow();
  }

  private static FactorDeviance factor(Measure measure, String name) {
    return measure.factors().stream()
        .filter(each -> each.factor().equals(name))
        .findAny()
        .orElseThrow();
  }

  /** A method that solves the first of 176 tasks in 16 categories. */
  private static void tasks(SimulatedRun run, String method, int solved) {
    run.by(method);
    for (int i = 0; i < 176; i++) {
      String task = "C%02d/t%d".formatted(i % 16, i);
      if (i < solved) run.untimed(task, method + i);
      else run.wrong(task, method + i, Status.WRONG_VALUES);
    }
  }

  @Test
  void conditionsAreFactorsOnRequest() {
    SimulatedRun run = run(1);
    for (boolean hardware : new boolean[] {false, true}) {
      run.under(Map.of("hardware", String.valueOf(hardware), "shots", "one"));
      tasks(run, hardware ? "b" : "a", hardware ? 100 : 40);
    }
    Deviance all = of(run);
    assertThat(all.conditions()).containsExactly("hardware");
    assertThat(correct(all).factors())
        .extracting(FactorDeviance::factor)
        .doesNotContain("hardware", "shots");
    Deviance asked =
        Deviance.of(
            new SelectedRuns(List.of(asked(run))), List.of("hardware", "category", "shots"));
    assertThat(correct(asked).factors())
        .extracting(FactorDeviance::factor)
        .containsExactly("category", "hardware");
    assertThat(asked.constant()).containsExactly("shots");
    assertThat(asked.conditions()).isEmpty();
    assertThat(factor(correct(asked), "hardware").model().explained())
        .isCloseTo(factor(correct(all), "method").model().explained(), within(1e-12));
    assertThat(requireNonNull(correct(asked).joint()).factors())
        .extracting(JointDeviance.Part::factor)
        .containsExactly("category", "hardware");
    assertThatThrownBy(
            () -> Deviance.of(new SelectedRuns(List.of(asked(run))), List.of("hardwear")))
        .isInstanceOf(IncomparableRuns.class)
        .hasMessageStartingWith("--factor: no factor 'hardwear'; there are category, ")
        .hasMessageEndingWith("device, hardware, shots");
  }

  @Test
  void briefDevianceLeavesOutIntervalsAndModels() {
    SimulatedRun run = run(1);
    tasks(run, "a", 100);
    tasks(run, "b", 40);
    Deviance brief = Deviance.brief(new SelectedRuns(List.of(asked(run))), Outcome.CORRECT);
    assertThat(brief.outcomes()).hasSize(1);
    assertThat(correct(brief))
        .usingRecursiveComparison()
        .ignoringFields("joint", "task", "factors.model.low", "factors.model.high")
        .isEqualTo(correct(of(run)));
    assertThat(correct(brief).factors()).allMatch(factor -> factor.model().low() == null);
    assertThat(correct(brief).joint()).isNull();
    assertThat(brief).usingRecursiveComparison().ignoringFields("outcomes").isEqualTo(of(run));
    SimulatedRun nothing = run(2).stages(Stage.STATIC);
    SelectedRuns empty = new SelectedRuns(List.of(asked(nothing)));
    assertThat(Deviance.brief(empty, Outcome.CORRECT).outcomes().getFirst().unknown()).isNotNull();
  }

  @Test
  void runWithoutCandidatesHasUnknownDeviance() {
    SelectedRuns empty = new SelectedRuns(List.of(asked(run(1))));
    assertThat(Deviance.brief(empty, Outcome.CORRECT).outcomes().getFirst().unknown())
        .isEqualTo("0 of 0 pass, nothing to explain");
    assertThat(correct(Deviance.of(empty)).unknown()).isEqualTo("0 of 0 pass, nothing to explain");
  }

  @Test
  void categoriesOfOneTaskAreCounted() {
    SimulatedRun run = run(1).by("a").untimed("A/x", "x").untimed("B/y", "y");
    run.wrong("B/z", "z", Status.WRONG_VALUES).wrong("C/w", "w", Status.WRONG_VALUES);
    assertThat(correct(of(run)).lone()).isEqualTo(2);
    assertThat(DevianceSection.of(of(run)).blocks())
        .contains(
            new Block.Note(
                "correct: intervals do not vary the tasks of 2 categories with one task."));
  }

  @Test
  void publishedCountsGiveThePublishedDeviance() {
    SimulatedRun four = run(1);
    tasks(four, "a", 30);
    tasks(four, "b", 54);
    tasks(four, "c", 19);
    tasks(four, "d", 40);
    Measure measure = correct(of(four));
    assertThat(measure.passes()).isEqualTo(143);
    assertThat(measure.candidates()).isEqualTo(704);
    assertThat(measure.nullDeviance()).isCloseTo(710.6, within(0.05));
    FactorDeviance method = factor(measure, "method");
    assertThat(method.model().chi2()).isCloseTo(23.8, within(0.05));
    assertThat(method.model().explained()).isCloseTo(0.0334, within(5e-5));
    assertThat(method.model().df()).isEqualTo(3);
    assertThat(method.model().perDf()).isCloseTo(0.0334 / 3, within(2e-5));
    assertThat(method.model().adjusted()).isCloseTo(1 - (686.8627 + 6) / 710.6235, within(1e-6));
    assertThat(method.model().aic()).isCloseTo(686.8627 + 8, within(1e-3));
    assertThat(method.model().p()).isLessThan(1e-4);
    assertThat(method.unsolved()).isEmpty();
    assertThat(method.withoutUnsolved()).isNull();
    assertThat(method.firth()).isNull();
  }

  @Test
  void methodWithoutSolvedTasksChangesTheShare() {
    SimulatedRun five = run(1);
    tasks(five, "a", 30);
    tasks(five, "b", 54);
    tasks(five, "c", 19);
    tasks(five, "d", 40);
    tasks(five, "e", 0);
    FactorDeviance method = factor(correct(of(five)), "method");
    assertThat(method.model().explained()).isCloseTo(94.2117 / 781.0744, within(1e-6));
    assertThat(method.withoutUnsolved()).isCloseTo(23.7608 / 710.6235, within(1e-6));
    assertThat(method.unsolved()).containsExactly("e");
    FactorDeviance.Penalised firth = requireNonNull(method.firth());
    assertThat(firth.explained()).isBetween(0.11, method.model().explained());
    assertThat(firth.chi2()).isBetween(60.0, method.model().chi2());
  }

  /** The cells of LogisticTest, whose known answers are explained there. */
  private static SimulatedRun cells() {
    SimulatedRun run = run(1);
    for (int c = 0; c < 4; c++) {
      for (int m = 0; m < 3; m++) {
        for (int k = 0; k < 2; k++) {
          int trials = 5 + (c * 5 + m * 3 + k * 7) % 4;
          int passes = Math.min(trials, (c * 3 + m * 4 + k * 2 + c * m) % (trials + 1));
          run.by("m" + m).model("k" + k);
          for (int i = 0; i < trials; i++) {
            String task = "C%d/t%d".formatted(c, i);
            String code = "%s %d %d".formatted(task, m, k);
            if (i < passes) run.untimed(task, code);
            else run.wrong(task, code, Status.WRONG_VALUES);
          }
        }
      }
    }
    return run;
  }

  @Test
  void theJointModelAgreesWithTypeTwoAndThreeOfCar() {
    JointDeviance joint = requireNonNull(correct(of(cells())).joint());
    assertThat(joint.factors().stream().map(JointDeviance.Part::factor))
        .containsExactly("category", "method", "model");
    assertThat(joint.model().deviance()).isCloseTo(197.7931187, within(1e-6));
    assertThat(joint.model().df()).isEqualTo(6);
    assertThat(joint.model().aic()).isCloseTo(211.7931187, within(1e-6));
    assertThat(joint.model().bic()).isCloseTo(233.1421107, within(1e-6));
    double[] typeTwo = {8.291909061, 1.442153681, 3.082092664};
    int[] df = {3, 2, 1};
    for (int i = 0; i < 3; i++) {
      JointDeviance.Test test = joint.factors().get(i).typeTwo();
      assertThat(test.chi2()).isCloseTo(typeTwo[i], within(1e-6));
      assertThat(test.df()).isEqualTo(df[i]);
      assertThat(test.low()).isNotNull().isLessThanOrEqualTo(test.high());
    }
    JointDeviance.Interaction both = requireNonNull(joint.interaction());
    assertThat(both.first()).isEqualTo("category");
    assertThat(both.second()).isEqualTo("method");
    assertThat(both.test().chi2()).isCloseTo(28.275901422, within(1e-5));
    assertThat(both.test().df()).isEqualTo(6);
    assertThat(requireNonNull(joint.factors().get(0).typeThree()).chi2())
        .isCloseTo(7.26009195, within(1e-5));
    assertThat(requireNonNull(joint.factors().get(1).typeThree()).chi2())
        .isCloseTo(1.46394377, within(1e-5));
    assertThat(joint.factors().get(2).typeThree()).as("not in the interaction").isNull();
  }

  @Test
  void secondTaskGroupingIsShownBesideCategories() {
    SimulatedRun run = cells();
    Map<String, SelectedRun.TaskTraits> traits = new HashMap<>();
    for (VerdictRow row : run.judged().rows()) {
      int number = Integer.parseInt(row.task().substring(1));
      traits.put(
          row.path(),
          new SelectedRun.TaskTraits(
              1 + number / 3, "op" + number % 2, "memory", "float32", null, null));
    }
    Deviance deviance =
        Deviance.of(
            new SelectedRuns(
                List.of(
                    new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), traits))));
    assertThat(deviance.constant()).containsExactly("bound", "dtype", "device");
    Measure measure = correct(deviance);
    assertThat(measure.factors().stream().map(FactorDeviance::factor))
        .containsExactly("category", "difficulty", "operation", "method", "model");
    FactorDeviance difficulty = factor(measure, "difficulty");
    assertThat(difficulty.levels().stream().map(FactorDeviance.Level::name))
        .containsExactly("1", "2", "3");
    assertThat(difficulty.permutation().pValue())
        .as("the first tasks are solved more often")
        .isLessThan(0.05);
    assertThat(difficulty.model().explained()).isGreaterThan(difficulty.permutation().expected());
    FactorDeviance operation = factor(measure, "operation");
    assertThat(operation.permutation().pValue()).isGreaterThan(0.05);
    assertThat(operation.model().low()).isNotNull().isLessThanOrEqualTo(operation.model().high());
    assertThat(requireNonNull(measure.joint()).factors().stream().map(JointDeviance.Part::factor))
        .containsExactly("category", "difficulty", "method", "model");
  }

  @Test
  void tasksExplainMoreThanTheirCategory() {
    SimulatedRun run = run(1);
    for (String method : List.of("a", "b", "c")) {
      run.by(method);
      for (int i = 0; i < 60; i++) {
        String task = "C%d/t%d".formatted(i % 3, i);
        boolean solved = i % 2 == 0 ? (i + method.hashCode()) % 10 < 9 : i % 20 == 1;
        if (solved) run.untimed(task, method + i);
        else run.wrong(task, method + i, Status.WRONG_VALUES);
      }
    }
    Deviance.TaskIntercept task = requireNonNull(correct(of(run)).task());
    assertThat(task.deviation()).isGreaterThan(2);
    assertThat(task.share()).isBetween(0.5, 1.0);
    assertThat(task.p()).isLessThan(0.001);
    assertThat(task.factors().stream().map(Deviance.TaskIntercept.Part::factor))
        .containsExactly("category", "method");
    assertThat(task.factors().getFirst().test().p()).isGreaterThan(0.05);
  }

  @Test
  void countsEachCandidateOnceAndTheLastRound() {
    SimulatedRun first = run(1).by("refine");
    first.round(0).wrong("M/a", "a0", Status.WRONG_VALUES).untimed("M/b", "b0");
    first.round(1).untimed("M/a", "a1");
    SimulatedRun second = run(2).by("refine").round(0).untimed("M/b", "b0");
    second.by("single").wrong("N/c", "c", Status.INFRASTRUCTURE).wrong("N/d", "d", Status.TIMEOUT);
    Inclusion entered = of(first, second).entered();
    assertThat(entered.candidates()).isEqualTo(3);
    assertThat(entered.tasks()).isEqualTo(3);
    assertThat(entered.leftOut().repeated()).isEqualTo(1);
    assertThat(entered.leftOut().earlierRounds()).isEqualTo(1);
    assertThat(entered.leftOut().notJudged()).isEqualTo(1);
    assertThat(entered.made().getFirst().lastRound()).isEqualTo(1);
    assertThat(entered.made().get(1).method()).isEqualTo("single");
  }

  @Test
  void unmeasuredOutcomeIsUnknown() {
    Deviance deviance = of(run(1).untimed("M/a", "a").untimed("N/b", "b"));
    assertThat(correct(deviance).unknown()).isEqualTo("2 of 2 pass, nothing to explain");
    Measure faster = of(deviance, Outcome.FASTER);
    assertThat(faster.unknown()).contains("used no GPU");
    SimulatedRun gpu =
        SimulatedRun.on(SimulatedRun.H200, 2)
            .correct("M/a", "a", 1.5)
            .correct("N/b", "b", 0.5)
            .untimed("N/c", "c");
    Measure timed = of(of(gpu), Outcome.FASTER);
    assertThat(timed.passes()).isEqualTo(1);
    assertThat(timed.candidates()).isEqualTo(2);
    assertThat(timed.unmeasured()).isEqualTo(1);
    assertThat(timed.joint()).isNull();
    assertThat(timed.task()).isNull();
  }

  @Test
  void theSameRowsGiveTheSameFigures() {
    assertThat(of(cells())).isEqualTo(of(cells()));
  }

  @Test
  void roundsInSeparateRunsAreOneAttempt() {
    SimulatedRun zero = run(1).by("refine").round(0).wrong("M/a", "a0", Status.TIMEOUT);
    SimulatedRun one = run(2).by("refine").round(1).untimed("M/a", "a1");
    SimulatedRun single = run(3).by("single").untimed("M/a", "s").untimed("N/b", "t");
    Inclusion entered = of(zero, one, single).entered();
    assertThat(entered.leftOut().earlierRounds()).isEqualTo(1);
    assertThat(entered.candidates()).isEqualTo(3);
    assertThat(entered.made().getFirst().samples()).as("of refine").isEqualTo(1);
  }

  @Test
  void aliasedFactorAddsNothing() {
    SimulatedRun run = run(1);
    for (String method : List.of("a", "b", "c")) {
      run.by(method).model("model of " + method);
      for (int i = 0; i < 30; i++) {
        String task = "C%d/t%d".formatted(i % 3, i);
        if ((i * (method.hashCode() + 2)) % 7 < 3) run.untimed(task, method + i);
        else run.wrong(task, method + i, Status.WRONG_VALUES);
      }
    }
    JointDeviance joint = requireNonNull(correct(of(run)).joint());
    for (JointDeviance.Part part : joint.factors().subList(1, 3)) {
      assertThat(part.typeTwo().df()).as(part.factor()).isZero();
      assertThat(part.typeTwo().p()).isNull();
      assertThat(part.typeTwo().chi2()).isBetween(0.0, 1e-6);
    }
  }

  @Test
  void equalLevelsExplainNothing() {
    for (int trials = 2; trials < 60; trials++) {
      for (int passes = 1; passes < trials; passes++) {
        double[] pass = {passes, passes, passes};
        assertThat(FactorDeviance.share(pass, new double[] {trials, trials, trials}))
            .as("%d of %d", passes, trials)
            .isBetween(0.0, 1e-12);
      }
    }
  }
}
