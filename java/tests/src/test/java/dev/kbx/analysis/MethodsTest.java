package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.groups.Tuple.tuple;

import dev.kbx.SimulatedRun;
import dev.kbx.verdict.Status;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Methods side by side. */
class MethodsTest {
  private static Methods of(List<Integer> ks, List<Double> ps, SimulatedRun... runs) {
    return Methods.of(
        new SelectedRuns(
            List.of(runs).stream()
                .map(run ->
                    new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), Map.of()))
                .toList()),
        ks,
        ps);
  }

  private static SimulatedRun gpu(int number) {
    return SimulatedRun.on(SimulatedRun.H200, number).asking("*", 20);
  }

  /** A method that solves the tasks from one to another, of ten. */
  private static void solves(SimulatedRun run, String method, int from, int to) {
    run.by(method);
    for (int i = 0; i < 10; i++) {
      String task = (i < 6 ? "M/t" : "N/t") + i;
      if (i >= from && i < to) run.correct(task, method + i, i % 2 == 0 ? 2.5 : 0.5);
      else if (i == 9) run.uncallable(task, method + i, Status.COMPILE_ERROR);
      else run.wrong(task, method + i, Status.WRONG_VALUES);
    }
  }

  private static Methods two() {
    SimulatedRun run = gpu(1);
    solves(run, "a", 0, 8);
    solves(run, "b", 0, 1);
    return of(List.of(1, 2), List.of(1.0), run);
  }

  private static MethodRates.OfOutcome outcome(MethodRates rates, Outcome outcome) {
    return rates.outcomes().stream()
        .filter(each -> each.outcome() == outcome)
        .findAny()
        .orElseThrow();
  }

  @Test
  void ratesAreOfTheTasksTried() {
    MethodRates a = two().methods().getFirst();
    MethodRates.Share correct = outcome(a, Outcome.CORRECT).all();
    assertThat(correct.passes()).isEqualTo(8);
    assertThat(correct.tasks()).isEqualTo(10);
    assertThat(correct.asked()).isEqualTo(20);
    assertThat(correct.share()).isCloseTo(0.8, within(1e-12));
    assertThat(correct.low()).isCloseTo(0.4902, within(1e-4));
    assertThat(outcome(a, Outcome.CALLED).all().passes()).isEqualTo(9);
    assertThat(outcome(a, Outcome.FASTER).all().passes()).isEqualTo(4);
    MethodRates.Share n = outcome(a, Outcome.CORRECT).categories().get(1);
    assertThat(n.category()).isEqualTo("N");
    assertThat(n.passes()).isEqualTo(2);
    assertThat(n.tasks()).as("those with a candidate").isEqualTo(4);
  }

  @Test
  void conversionIsCorrectDividedByCalled() {
    MethodRates a = two().methods().getFirst();
    assertThat(a.conversion().getFirst().called()).isEqualTo(9);
    assertThat(a.conversion().getFirst().correct()).isEqualTo(8);
    MethodRates.Conversion n = a.conversion().getLast();
    assertThat(n.category()).isEqualTo("N");
    assertThat(n.called()).isEqualTo(3);
    assertThat(n.share()).isCloseTo(2 / 3.0, within(1e-12));
  }

  @Test
  void conversionOfSeveralSamplesIsOverTasks() {
    SimulatedRun run = gpu(1).by("a");
    for (int sample = 0; sample < 20; sample++) {
      run.untimed("M/right", "r" + sample);
      run.wrong("M/wrong", "w" + sample, Status.WRONG_VALUES);
    }
    MethodRates.Conversion all =
        of(List.of(1), List.of(), run).methods().getFirst().conversion().getFirst();
    assertThat(all.share()).isEqualTo(0.5);
    assertThat(all.low()).as("two tasks tell little, however many samples").isZero();
    assertThat(all.high()).isEqualTo(1);
  }

  @Test
  void pairsAreOnTheSameTasks() {
    MethodPair pair =
        two().pairs().stream()
            .filter(each -> each.outcome() == Outcome.CORRECT)
            .findAny()
            .orElseThrow();
    PairedTasks all = pair.compared();
    assertThat(List.of(all.tasks(), all.firstAhead(), all.secondAhead())).containsExactly(10, 7, 0);
    assertThat(List.of(all.alike(), all.neither())).containsExactly(1, 2);
    assertThat(all.difference()).isCloseTo(-0.7, within(1e-12));
    assertThat(all.pValue()).isCloseTo(2 / 128.0, within(1e-12));
    assertThat(requireNonNull(all.mcnemar()).pValue()).isCloseTo(2 / 128.0, within(1e-12));
    assertThat(pair.holm()).as("one pair, two categories").isCloseTo(6 / 128.0, within(1e-12));
    assertThat(pair.categories().getFirst().compared().firstAhead()).isEqualTo(5);
    assertThat(pair.categories().getFirst().compared().pValue()).isCloseTo(2 / 32.0, within(1e-12));
    assertThat(pair.categories().getFirst().holm()).isCloseTo(4 / 32.0, within(1e-12));
    assertThat(pair.categories().getLast().compared().firstAhead()).isEqualTo(2);
  }

  /** Two methods with four samples a task: the second passes one more of each of six tasks. */
  @Test
  void samplesOfATaskCountByTheirShare() {
    SimulatedRun run = gpu(1);
    for (int method = 0; method < 2; method++) {
      run.by(method == 0 ? "a" : "b");
      for (int task = 0; task < 6; task++) {
        // The first sample of each fails: it alone would tell nothing.
        run.wrong("M/t" + task, "first%d.%d".formatted(method, task), Status.WRONG_VALUES);
        for (int sample = 1; sample < 4; sample++) {
          String code = "%d.%d.%d".formatted(method, task, sample);
          if (sample <= method + 1) run.untimed("M/t" + task, code);
          else run.wrong("M/t" + task, code, Status.WRONG_VALUES);
        }
      }
    }
    MethodPair pair =
        of(List.of(1), List.of(), run).pairs().stream()
            .filter(each -> each.outcome() == Outcome.CORRECT)
            .findAny()
            .orElseThrow();
    PairedTasks all = pair.compared();
    assertThat(all.secondAhead()).isEqualTo(6);
    assertThat(all.difference()).isCloseTo(0.25, within(1e-12));
    assertThat(all.pValue()).as("of six equal differences").isCloseTo(2 / 64.0, within(1e-12));
    assertThat(all.error()).as("exact").isNull();
    assertThat(all.mcnemar()).as("for one sample a task").isNull();
  }

  @Test
  void categoriesAreCorrectedOverAllPairs() {
    SimulatedRun run = gpu(1);
    solves(run, "a", 0, 8);
    solves(run, "b", 0, 1);
    solves(run, "c", 0, 1);
    List<MethodPair> correct =
        of(List.of(1), List.of(), run).pairs().stream()
            .filter(pair -> pair.outcome() == Outcome.CORRECT)
            .toList();
    // a with b and with c: p of 2/128 each; in M 2/32 each, in N 1/2 each. b with c: nothing.
    assertThat(correct.getFirst().holm()).isCloseTo(6 * 2 / 128.0, within(1e-12));
    assertThat(correct.getFirst().categories().getFirst().holm())
        .isCloseTo(4 * 2 / 32.0, within(1e-12));
    assertThat(correct.getLast().holm()).isEqualTo(1);
  }

  @Test
  void categoryWithoutASuccessHasAnIntervalWithSeveralSamples() {
    SimulatedRun run = gpu(1).by("a");
    for (int task = 0; task < 5; task++) {
      for (int sample = 0; sample < 4; sample++) {
        run.wrong("M/t" + task, "%d.%d".formatted(task, sample), Status.WRONG_VALUES);
      }
    }
    MethodRates.Share none =
        outcome(of(List.of(1), List.of(), run).methods().getFirst(), Outcome.CORRECT)
            .categories()
            .getFirst();
    assertThat(none.share()).isZero();
    assertThat(none.low()).isZero();
    // Wilson's for none of five, as the samples of a task may all end alike.
    assertThat(none.high()).isCloseTo(0.4345, within(1e-4));
  }

  @Test
  void pValuesOfThreePairsAreCorrected() {
    SimulatedRun run = gpu(1);
    solves(run, "a", 0, 8);
    solves(run, "b", 0, 1);
    solves(run, "c", 0, 8);
    List<MethodPair> correct =
        of(List.of(1), List.of(), run).pairs().stream()
            .filter(pair -> pair.outcome() == Outcome.CORRECT)
            .toList();
    assertThat(correct.stream().map(MethodPair::holm))
        .usingElementComparator((x, y) -> Math.abs(x - y) < 1e-9 ? 0 : 1)
        .as("with their categories six tests")
        .containsExactly(12 / 128.0, 1.0, 12 / 128.0);
  }

  @Test
  void tasksAreGroupedByTheMethodsThatSolveThem() {
    List<SolvedTasks.Group> groups = two().solved().getFirst().groups();
    SolvedTasks.Group m = groups.getFirst();
    assertThat(m.name()).isEqualTo("M");
    assertThat(m.tasks()).isEqualTo(6);
    assertThat(m.all()).isEqualTo(1);
    assertThat(m.one().stream().map(SolvedTasks.OnlyOne::task))
        .containsExactly("M/t1", "M/t2", "M/t3", "M/t4", "M/t5");
    assertThat(m.one().getFirst().maker()).isEqualTo(new MethodAndModel("a", null));
    assertThat(groups.getLast().none()).containsExactly("N/t8", "N/t9");
  }

  @Test
  void taskCountsByItsBestOfKSamples() {
    SimulatedRun run = gpu(1).by("sample");
    run.correct("M/a", "a0", 3).correct("M/a", "a1", 1.2).wrong("M/a", "a2", Status.TIMEOUT);
    run.wrong("M/b", "b0", Status.TIMEOUT).wrong("M/b", "b1", Status.TIMEOUT);
    MethodRates rates = of(List.of(1, 2, 3), List.of(1.0, 2.0), run).methods().getFirst();
    assertThat(rates.samples()).hasSize(9);
    assertThat(rates.samples().get(0).value()).isCloseTo(1 / 3.0, within(1e-12));
    assertThat(rates.samples().get(2).p()).isEqualTo(2);
    assertThat(rates.samples().get(2).value()).isCloseTo(1 / 6.0, within(1e-12));
    assertThat(rates.samples().get(3).value()).as("pass@2").isCloseTo(0.5, within(1e-12));
    assertThat(rates.samples().get(5).value()).as("fast_2@2").isCloseTo(1 / 3.0, within(1e-12));
    assertThat(rates.samples().get(6).tasks()).as("pass@3").isEqualTo(1);
    assertThat(rates.samples().get(6).value()).isEqualTo(1);
    MethodRates.Share share = outcome(rates, Outcome.CORRECT).all();
    assertThat(share.share()).isCloseTo(1 / 3.0, within(1e-12));
    assertThat(share.low()).isNotNull().isLessThan(share.high());
  }

  @Test
  void unknownSpeedDoesNotCountAsSlow() {
    SimulatedRun run = gpu(1).by("a").correct("M/a", "a", 2).untimed("M/b", "b");
    MethodRates rates = of(List.of(1), List.of(1.0), run).methods().getFirst();
    assertThat(outcome(rates, Outcome.FASTER).all().share()).isNull();
    assertThat(outcome(rates, Outcome.FASTER).all().unmeasured()).isEqualTo(1);
    assertThat(rates.samples().getLast().value()).isNull();
    Methods cpu =
        of(List.of(1), List.of(1.0), SimulatedRun.on(SimulatedRun.CPU, 1).untimed("M/a", "a"));
    assertThat(cpu.unmeasured().getFirst().outcome()).isEqualTo(Outcome.FASTER);
  }

  @Test
  void tasksThatKbxCouldNotJudgeDoNotCountAsTried() {
    SimulatedRun run = gpu(1).by("a").correct("M/a", "a", 2);
    run.wrong("M/a", "b", Status.INFRASTRUCTURE).wrong("M/b", "c", Status.INFRASTRUCTURE);
    run.by("b").correct("M/b", "d", 2);
    Methods methods = of(List.of(1), List.of(), run);
    assertThat(methods.methods()).extracting(MethodRates::notJudged).containsExactly(1, 0);
    assertThat(outcome(methods.methods().getFirst(), Outcome.CORRECT).all().share()).isEqualTo(1);
  }

  @Test
  void speedupsAgainstDifferentBaselinesAreNotPooled() {
    SimulatedRun eager = gpu(1).by("a").correct("M/a", "a", 2);
    SimulatedRun compiled = gpu(2).against("best (compile)").by("b").correct("M/a", "b", 2);
    Methods methods = of(List.of(1), List.of(1.0), eager, compiled);
    assertThat(methods.entered().baselines()).containsExactly("best", "eager");
    assertThat(methods.unmeasured())
        .containsExactly(
            new Methods.Unmeasured(
                Outcome.FASTER,
                "speedups are against different baselines, best and eager; judge again against"
                    + " one"));
    SimulatedRun other = gpu(2).against("best (max-autotune)").by("b").correct("M/a", "b", 2);
    assertThat(of(List.of(1), List.of(1.0), compiled, other).unmeasured())
        .as("the best of several is one baseline")
        .isEmpty();
  }

  /** Ten tasks of a method under these conditions, of which it solves the first ones. */
  private static void under(
      SimulatedRun run, String method, int solved, Map<String, String> conditions) {
    run.by(method).under(conditions);
    for (int i = 0; i < 10; i++) {
      if (i < solved) run.untimed("M/t" + i, method + conditions + i);
      else run.wrong("M/t" + i, method + conditions + i, Status.WRONG_VALUES);
    }
  }

  @Test
  void anAblationDiffersInOneCondition() {
    SimulatedRun run = gpu(1).model("m");
    Map<String, String> plain = Map.of("algorithm", "refine", "hardware", "false", "shots", "one");
    under(run, "refine", 1, plain);
    under(run, "refine-hw", 7, Map.of("algorithm", "refine", "hardware", "true", "shots", "one"));
    under(run, "refine-0", 2, Map.of("algorithm", "refine", "hardware", "true", "shots", "zero"));
    run.model("another");
    under(run, "refine", 5, Map.of("algorithm", "refine", "hardware", "true", "shots", "one"));
    List<Ablation> correct =
        of(List.of(1), List.of(), run).ablations().stream()
            .filter(each -> each.outcome() == Outcome.CORRECT)
            .toList();
    assertThat(correct)
        .extracting(Ablation::condition, Ablation::first, Ablation::second)
        .containsExactly(tuple("hardware", "false", "true"), tuple("shots", "zero", "one"));
    Ablation hardware = correct.getFirst();
    assertThat(hardware.compared().secondAhead()).isEqualTo(6);
    assertThat(hardware.compared().firstAhead()).isZero();
    assertThat(hardware.compared().pValue()).isCloseTo(2 / 64.0, within(1e-12));
    assertThat(hardware.holm()).as("of six pairs, too").isCloseTo(8 * 2 / 64.0, within(1e-12));
    assertThat(hardware.firstMethod() + " " + hardware.secondMethod())
        .isEqualTo("refine refine-hw");
  }

  @Test
  void runsOfDifferentMethodsAreNotAnAblation() {
    SimulatedRun run = gpu(1);
    under(run, "a", 1, Map.of("hardware", "false"));
    under(run, "b", 2, Map.of("hardware", "true"));
    assertThat(of(List.of(1), List.of(), run).ablations()).isEmpty();
    under(run, "a", 2, Map.of("hardware", "true"));
    assertThat(of(List.of(1), List.of(), run).ablations())
        .extracting(Ablation::outcome)
        .as("of one method, by all that was measured")
        .containsExactly(Outcome.CALLED, Outcome.CORRECT, Outcome.GENERAL);
  }

  @Test
  void tasksOfSeveralRunsAreCountedTogether() {
    SimulatedRun first = SimulatedRun.on(SimulatedRun.CPU, 1).by("a").untimed("M/x", "x");
    SimulatedRun second = SimulatedRun.on(SimulatedRun.CPU, 2).by("b").untimed("M/y", "y");
    Methods methods =
        Methods.of(
            new SelectedRuns(
                List.of(
                    new SelectedRun(
                        first.judged(),
                        SelectedTasks.named(Map.of("M", Set.of("x", "z"))),
                        Map.of()),
                    new SelectedRun(
                        second.judged(), SelectedTasks.named(Map.of("M", Set.of("y"))), Map.of()))),
            List.of(1),
            List.of());
    assertThat(methods.entered().asked()).isEqualTo(3);
    assertThat(outcome(methods.methods().getFirst(), Outcome.CORRECT).all().asked()).isEqualTo(3);
  }
}
