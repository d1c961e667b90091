package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.SectionText;
import dev.kbx.SimulatedRun;
import dev.kbx.analysis.Comparison.Changed;
import dev.kbx.analysis.Comparison.Row;
import dev.kbx.analysis.Comparison.SpeedChange.Outcome;
import dev.kbx.section.ComparisonSection;
import dev.kbx.stats.McNemar;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  private static SimulatedRun run(int number) {
    return SimulatedRun.on(SimulatedRun.H200, number);
  }

  private static Comparison of(SimulatedRun then, SimulatedRun now) {
    return of(then, now, List.of());
  }

  private static Comparison of(
      SimulatedRun then, SimulatedRun now, @Nullable NoiseFloor noiseFloor) {
    return of(then, now, noiseFloor == null ? List.of() : List.of(noiseFloor));
  }

  private static Comparison of(SimulatedRun then, SimulatedRun now, List<NoiseFloor> floors) {
    return Comparison.of(then.judged(), now.judged(), floors);
  }

  private static Row only(Comparison comparison) {
    assertThat(comparison.candidates()).hasSize(1);
    return comparison.candidates().getFirst();
  }

  @Test
  void comparisonShowsGeneralRatesBesidePublishedRates() {
    SimulatedRun then = run(1).published("Math/a", "a").published("Math/b", "b");
    SimulatedRun now = run(2).correct("Math/a", "a 2", 1).published("Math/b", "b 2");
    Comparison comparison = of(then, now);
    assertThat(requireNonNull(comparison.general().then()).correct()).isZero();
    assertThat(requireNonNull(comparison.general().now()).share()).isEqualTo(0.5);
    assertThat(SectionText.of(200, ComparisonSection.of(comparison)))
        .contains(
            "Correct at the general grade: then 0 of 2 candidates, 0.0 % [0–66],"
                + " now 1 of 2 candidates, 50.0 % [9–91].");
    Comparison unknown = of(then, now.ofUnknownGrade("Math/c", "c"));
    assertThat(unknown.general().now()).isNull();
    assertThat(SectionText.of(200, ComparisonSection.of(unknown))).contains("[0–66], now unknown.");
  }

  @Test
  void tasksAreRescuedRegressedPersistentOrUnresolved() {
    Comparison comparison =
        of(
            run(1)
                .wrong("Math/a", "a1", Status.WRONG_VALUES)
                .correct("Math/b", "b1", 1.2)
                .correct("Math/c", "c1", 1.2)
                .wrong("Math/d", "d1", Status.TIMEOUT)
                .correct("Math/e", "e1", 1.2)
                .correct("Math/f", "f1", 1.2),
            run(2)
                .correct("Math/a", "a2", 1.2)
                .wrong("Math/b", "b2", Status.CRASHED)
                .correct("Math/c", "c2", 1.2)
                .wrong("Math/d", "d2", Status.WRONG_VALUES)
                .wrong("Math/e", "e2", Status.INFRASTRUCTURE)
                .correct("Math/g", "g2", 1.2));
    TaskOutcomes tasks = comparison.tasks();
    assertThat(tasks)
        .extracting(
            TaskOutcomes::compared,
            TaskOutcomes::rescued,
            TaskOutcomes::regressed,
            TaskOutcomes::persistent,
            TaskOutcomes::unresolved,
            TaskOutcomes::notJudged,
            TaskOutcomes::onlyThen,
            TaskOutcomes::onlyNow)
        .containsExactly(4, 1, 1, 1, 1, 1, 1, 1);
    assertThat(comparison.candidates())
        .extracting(Row::transition)
        .containsExactly(
            TaskOutcomes.Transition.RESCUED,
            TaskOutcomes.Transition.REGRESSED,
            TaskOutcomes.Transition.PERSISTENT,
            TaskOutcomes.Transition.UNRESOLVED,
            null);
  }

  @Test
  void taskCountsOnceHoweverManySamples() {
    SimulatedRun then = run(1).wrong("Math/a", "a", Status.WRONG_VALUES).correct("Math/b", "b", 1);
    SimulatedRun now =
        run(2)
            .wrong("Math/a", "a2", Status.WRONG_VALUES)
            .correct("Math/a", "a3", 1.2)
            .wrong("Math/b", "b2", Status.WRONG_VALUES);
    TaskOutcomes tasks = of(then, now).tasks();
    assertThat(tasks.unresolved()).isEqualTo(1);
    assertThat(tasks.rescued()).isZero();
    assertThat(tasks.regressed()).isEqualTo(1);
    assertThat(tasks.unevenTries()).isEqualTo(1);
  }

  /** What became of a source is its own partner's doing, whichever sample that is. */
  @Test
  void samplesOfATaskAreComparedPairwise() {
    SimulatedRun then =
        run(1)
            .wrong("Math/a", "x", Status.WRONG_VALUES)
            .wrong("Math/a", "y", Status.WRONG_VALUES)
            .correct("Math/a", "z", 1);
    Comparison reordered = of(then, run(2).correct("Math/a", "z", 1));
    assertThat(reordered.tasks().persistent()).isEqualTo(1);
    assertThat(reordered.tasks().unevenTries()).isEqualTo(1);
  }

  /** Two methods have a sample each; one method's is left, and its partner was not judged. */
  @Test
  void unpairedSamplesAreComparedWithinOneMethod() {
    SimulatedRun then =
        run(1)
            .by("refine")
            .wrong("Math/a", "a", Status.WRONG_VALUES)
            .by("single")
            .correct("Math/a", "b", 1);
    SimulatedRun now =
        run(2).by("single").wrong("Math/a", "c", Status.INFRASTRUCTURE).correct("Math/a", "d", 1);
    TaskOutcomes tasks = of(then, now).tasks();
    assertThat(tasks.persistent()).isEqualTo(1);
    assertThat(tasks.rescued()).isZero();
  }

  @Test
  void mcnemarIsOverTasks() {
    SimulatedRun then = run(1);
    SimulatedRun now = run(2);
    IntStream.range(0, 11)
        .forEach(i -> {
          boolean rescued = i < 9;
          String task = "Math/m" + i;
          if (rescued) then.wrong(task, "t" + i, Status.WRONG_VALUES);
          else then.correct(task, "t" + i, 1);
          if (rescued) now.correct(task, "n" + i, 1);
          else now.wrong(task, "n" + i, Status.WRONG_VALUES);
        });
    Comparison comparison = of(then, now);
    var expected = new McNemar(2, 9);
    assertThat(comparison.tasks().mcnemar().pValue()).isEqualTo(expected.pValue());
    assertThat(comparison.tasks().mcnemar().oddsRatio()).isEqualTo(4.5);
    assertThat(SectionText.of(80, ComparisonSection.of(comparison)))
        .contains("p = 0.065, odds ratio rescued ÷ regressed 4.50 [0.93–42.80]");
  }

  @Test
  void speedupsDifferOnlyWhereIntervalsDoNotOverlap() {
    assertThat(outcome(run(1).correct("Math/a", "a", 1.00), run(2).correct("Math/a", "b", 1.03)))
        .isEqualTo(Outcome.FASTER);
    assertThat(outcome(run(1).correct("Math/a", "a", 1.03), run(2).correct("Math/a", "b", 1.00)))
        .isEqualTo(Outcome.SLOWER);
    assertThat(outcome(run(1).correct("Math/a", "a", 1.00), run(2).correct("Math/a", "b", 1.015)))
        .isEqualTo(Outcome.SAME);
  }

  private static Comparison.SpeedChange change(Row row) {
    return requireNonNull(row.speed());
  }

  private static Outcome outcome(SimulatedRun then, SimulatedRun now) {
    return change(only(of(then, now))).outcome();
  }

  @Test
  void differenceBelowNoiseFloorIsUnchanged() {
    SimulatedRun then = run(1).correct("Math/a", "a", 1.00);
    SimulatedRun now = run(2).correct("Math/a", "a", 1.03);
    assertThat(change(only(of(then, now, floor(SimulatedRun.H200, 0.05)))).outcome())
        .isEqualTo(Outcome.SAME);
    assertThat(change(only(of(then, now, floor(SimulatedRun.H200, 0.01)))).outcome())
        .isEqualTo(Outcome.FASTER);
    assertThat(
            SectionText.of(
                200, ComparisonSection.of(of(then, now, floor(SimulatedRun.H200, 0.01)))))
        .contains("noise floor, 1.42 % for sizes from 0.0500 ms");
    assertThat(SectionText.of(200, ComparisonSection.of(of(then, now))))
        .contains("noise floor is not known");
  }

  @Test
  void noiseFloorOfAnotherCardIsIgnored() {
    SimulatedRun then = run(1).correct("Math/a", "a", 1.00);
    SimulatedRun now = run(2).correct("Math/a", "a", 1.03);
    NoiseFloor elsewhere = floor(SimulatedRun.OTHER_H200, 0.05);
    assertThat(change(only(of(then, now, elsewhere))).outcome()).isEqualTo(Outcome.FASTER);
  }

  /** Both gain 3 %; one card can tell that and the other cannot. */
  @Test
  void eachCardHasItsOwnNoiseFloor() {
    SimulatedRun then = run(1).correct("Math/a", "a", 1).then(SimulatedRun.OTHER_H200);
    SimulatedRun now = run(2).correct("Math/a", "a", 1.03).then(SimulatedRun.OTHER_H200);
    then.correct("Math/b", "b", 1);
    now.correct("Math/b", "b", 1.03);
    List<NoiseFloor> floors =
        List.of(floor(SimulatedRun.H200, 0.01), floor(SimulatedRun.OTHER_H200, 0.05));
    Comparison comparison = of(then, now, floors);
    assertThat(comparison.candidates())
        .extracting(row -> change(row).outcome())
        .containsExactly(Outcome.FASTER, Outcome.SAME);
    assertThat(SectionText.of(200, ComparisonSection.of(comparison)))
        .contains("noise floor of the GPU:", "4d0c: 1.42 %", "42be: 7.14 %");
    assertThat(SectionText.of(200, ComparisonSection.of(of(then, now, floors.subList(0, 1)))))
        .contains("4d0c: 1.42 %", "42be: not known");
  }

  private static NoiseFloor floor(Verdict.Device device, double relative) {
    var measured = Instant.parse("2026-11-21T06:00:00Z");
    return new NoiseFloor(device, Map.of(), measured, relative, 0.05, 40, 200);
  }

  /** A kernel that loses its small sizes would else seem to gain what they cost. */
  @Test
  void meansOverOtherSizesAreNotCompared() {
    Comparison comparison =
        of(
            run(1).correct("Math/a", "a", 1.0).correct("Math/b", "b", 1.0),
            run(2).correct("Math/a", "a", 85, 4096).correct("Math/b", "b", 1.0));
    Comparison.SpeedChange change = change(comparison.candidates().getFirst());
    assertThat(change.outcome()).isEqualTo(Outcome.OTHER_SIZES);
    assertThat(change.value()).isNull();
    assertThat(requireNonNull(comparison.speed()).matched()).isEqualTo(1);
    assertThat(requireNonNull(comparison.speed()).set().now()).isCloseTo(1, within(1e-9));
  }

  @Test
  void otherBaselinesAndDevicesAreNotCompared() {
    SimulatedRun then = run(1).correct("Math/a", "a", 1.0);
    assertThat(outcome(then, run(2).against("compile").correct("Math/a", "a", 47)))
        .isEqualTo(Outcome.OTHER_BASELINE);
    SimulatedRun elsewhere = SimulatedRun.on(SimulatedRun.OTHER_H200, 2).correct("Math/a", "a", 47);
    Comparison comparison = of(then, elsewhere);
    assertThat(change(only(comparison)).outcome()).isEqualTo(Outcome.OTHER_DEVICE);
    assertThat(comparison.speed()).isNull();
  }

  /** The mean falls from 2× to 1.41× though no kernel became slower. */
  @Test
  void fallingMeanIsSplitByCause() {
    Comparison comparison =
        of(
            run(1).correct("Math/a", "a", 2).wrong("Math/b", "b", Status.WRONG_VALUES),
            run(2).correct("Math/a", "a", 2).correct("Math/b", "b2", 1));
    var set = requireNonNull(comparison.speed()).set();
    assertThat(set.then()).isCloseTo(2, within(1e-9));
    assertThat(set.now()).isCloseTo(Math.sqrt(2), within(1e-9));
    assertThat(set.change()).isCloseTo(1, within(1e-9));
    assertThat(set.composition()).isCloseTo(Math.sqrt(0.5), within(1e-9));
  }

  /** The same source is the same kernel, whichever sample it is. */
  @Test
  void candidatesArePairedBySourceThenBySample() {
    Comparison comparison =
        of(
            run(1).correct("Math/a", "x", 1).correct("Math/a", "y", 2).correct("Math/a", "z", 3),
            run(2).correct("Math/a", "y", 2).correct("Math/a", "w", 1).correct("Math/a", "v", 3));
    assertThat(comparison.candidates())
        .extracting(row -> row.then().candidate().equals(row.now().candidate()), Row::sample)
        .containsExactlyInAnyOrder(tuple(true, 0), tuple(false, 2));
    assertThat(comparison.onlyThen()).isEqualTo(1);
    assertThat(comparison.onlyNow()).isEqualTo(1);
  }

  /** Samples of other models are not counterparts, in whichever order the runs are named. */
  @Test
  void candidatesOfSeveralModelsArePairedWithinTheirModel() {
    SimulatedRun three =
        run(1)
            .by("single")
            .model("gemma")
            .correct("Math/a", "g", 1)
            .by("single")
            .model("opus")
            .wrong("Math/a", "o", Status.WRONG_VALUES)
            .by("single")
            .model("qwen")
            .wrong("Math/b", "q", Status.WRONG_VALUES);
    SimulatedRun two =
        run(2).by("single").model("opus").correct("Math/a", "p", 1).correct("Math/b", "r", 1);
    Comparison forth = of(three, two);
    assertThat(forth.candidates()).extracting(row -> row.then().candidate()).hasSize(1);
    assertThat(forth.tasks().rescued()).isEqualTo(1);
    assertThat(forth.tasks().compared()).isEqualTo(1);
    assertThat(forth.tasks().notJudged()).as("Math/b, of no common model").isEqualTo(1);
    Comparison back = of(two, three);
    assertThat(back.tasks().regressed()).isEqualTo(1);
    assertThat(back.tasks().compared()).isEqualTo(1);
  }

  @Test
  void changedVersionsAndOptionsAreShown() {
    Comparison comparison =
        of(
            run(1).correct("Math/a", "a", 1),
            run(2)
                .triton("3.8.0")
                .tolerance("published")
                .policy("mixed")
                .correct("Math/a", "a", 1));
    assertThat(comparison.changed())
        .containsExactly(
            Map.entry("triton", new Changed("3.7.1", "3.8.0")),
            Map.entry("tolerance", new Changed("model", "published")),
            Map.entry("policy", new Changed("kernel", "mixed")));
    assertThat(SectionText.of(80, ComparisonSection.of(comparison)))
        .contains("triton 3.7.1 → 3.8.0");
  }

  @Test
  void statusesOfDifferentStagesAreNotCompared() {
    assertThatThrownBy(() ->
            of(
                run(1).stages(Stage.STATIC).correct("Math/a", "a", 1),
                run(2).correct("Math/a", "a", 1)))
        .isInstanceOf(IncomparableRuns.class)
        .hasMessageContaining("went through static and run");
  }

  @Test
  void runWithoutTimingsIsReported() {
    SimulatedRun cpu = SimulatedRun.on(SimulatedRun.CPU, 1).correct("Math/a", "a", 1);
    Comparison comparison = of(cpu, run(2).correct("Math/a", "a", 1.2));
    assertThat(comparison.speed()).isNull();
    assertThat(comparison.tasks().persistent()).isEqualTo(1);
    assertThat(SectionText.of(80, ComparisonSection.of(comparison)))
        .contains("nothing was timed: the run used no GPU (AMD EPYC)");
  }

  /** Seventy pairs that cannot be compared come before the one that changed, by name. */
  @Test
  void changedPairsAreListedFirst() {
    SimulatedRun then = run(1);
    SimulatedRun now = run(2);
    IntStream.range(0, 70)
        .forEach(i -> {
          then.correct("Math/a" + i, "a" + i, 1);
          now.correct("Math/a" + i, "a" + i, 1, 4096);
        });
    then.correct("Math/slower", "s", 2);
    now.correct("Math/slower", "s", 1);
    assertThat(SectionText.of(80, ComparisonSection.of(of(then, now))))
        .contains("Math/slower", "11 more, which changed least");
  }

  /** Timed beside eager, but what was asked for does not compile. */
  @Test
  void runWithoutRequestedBaselineCountsAsTimed() {
    SimulatedRun then = run(1).against("compile").timed("Math/a", "a", 1.2, Double.NaN, Double.NaN);
    Comparison comparison = of(then, run(2).correct("Math/a", "a", 1.2));
    assertThat(SectionText.of(80, ComparisonSection.of(comparison)))
        .contains("Run " + then.id() + ": no speedups: no baseline compile for any of its tasks.")
        .doesNotContain("nothing was timed");
  }
}
