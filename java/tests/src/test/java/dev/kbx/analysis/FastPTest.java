package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.SectionText;
import dev.kbx.SimulatedRun;
import dev.kbx.analysis.FastP.Against;
import dev.kbx.analysis.FastP.Group;
import dev.kbx.analysis.FastP.Pick;
import dev.kbx.analysis.FastP.Point;
import dev.kbx.section.FastPSection;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FastPTest {
  /** Ten tasks: four in one category, six in the other. */
  private static final SelectedTasks TEN =
      SelectedTasks.named(
          Map.of("Math", Set.of("a", "b", "c", "d"), "Loss", Set.of("e", "f", "g", "h", "i", "j")));

  private static SimulatedRun run() {
    return SimulatedRun.on(SimulatedRun.H200, 1).asking("*", 10);
  }

  private static FastP of(SimulatedRun run, SelectedTasks asked, Pick pick) {
    List<FastP> all = FastP.of(run.judged(), asked, pick);
    assertThat(all).hasSize(1);
    return all.getFirst();
  }

  private static FastP first(SimulatedRun run) {
    return of(run, TEN, Pick.FIRST_SAMPLE);
  }

  private static Group against(FastP fast, String baseline) {
    return fast.against().stream()
        .filter(against -> against.baseline().equals(baseline))
        .findFirst()
        .map(Against::overall)
        .orElseThrow();
  }

  private static List<Long> counts(Group group) {
    return group.thresholds().stream().map(point -> requireNonNull(point.faster())).toList();
  }

  @Test
  void tasksWithoutACandidateDoNotCount() {
    FastP fast =
        first(
            run()
                .correct("Math/a", "a", 0.7)
                .correct("Math/b", "b", 1)
                .correct("Loss/e", "e", 1.7)
                .correct("Loss/f", "f", 2.5)
                .wrong("Loss/g", "g", Status.WRONG_VALUES));
    Group all = against(fast, "eager");
    assertThat(counts(all)).containsExactly(4L, 4L, 3L, 2L, 2L, 1L);
    Point faster = all.thresholds().get(3);
    var rate = new Rate(2, 5);
    assertThat(faster).isEqualTo(new Point(1, 2L, 0.4, rate.low(), rate.high()));
    assertThat(fast.series().submitted()).isEqualTo(5);
    List<Group> categories = fast.against().getFirst().categories();
    assertThat(categories).extracting(Group::category).containsExactly("Loss", "Math");
    assertThat(categories).extracting(Group::tasks).containsExactly(3, 2);
    assertThat(categories).extracting(Group::asked).containsExactly(6, 4);
    assertThat(counts(categories.getFirst())).containsExactly(2L, 2L, 2L, 2L, 2L, 1L);
  }

  @Test
  void generalRateIsShownBesideFastP() {
    SimulatedRun run =
        run()
            .correct("Math/a", "a", 0.7)
            .published("Math/b", "b")
            .correct("Loss/e", "e", 1.7)
            .wrong("Loss/g", "g", Status.WRONG_VALUES);
    FastP fast = first(run);
    var rate = new Rate(2, 4);
    assertThat(against(fast, "eager").general())
        .isEqualTo(new Grades.GeneralRate(2, 4, 0.5, rate.low(), rate.high()));
    Group math = fast.against().getFirst().categories().getLast();
    assertThat(requireNonNull(math.general()).correct()).isEqualTo(1);
    assertThat(SectionText.of(80, FastPSection.of(fast)))
        .containsPattern("category +tried +correct +share +general +share\n")
        .containsPattern("Math +2 of 4 +2 +100.0 % \\[34–100] +1 +50.0 % \\[9–91]\n")
        .containsPattern("all +4 of 10 +3 +75.0 % \\[30–95] +2 +50.0 % \\[15–85]\n");
    FastP unknown = first(run.ofUnknownGrade("Loss/f", "f"));
    assertThat(against(unknown, "eager").general()).isNull();
    assertThat(SectionText.of(80, FastPSection.of(unknown)))
        .containsPattern("all +5 of 10 +4 +80.0 % \\[38–96] +– +–\n");
  }

  @Test
  void curveHasExactlyOnePointForEachChange() {
    FastP fast =
        first(
            run()
                .correct("Math/a", "a", 1.5)
                .correct("Math/b", "b", 0.5)
                .correct("Loss/e", "e", 1.5));
    List<Point> curve = requireNonNull(against(fast, "eager").curve());
    assertThat(curve).extracting(Point::p).containsExactly(0.0, 0.5, 1.5);
    assertThat(curve).extracting(Point::faster).containsExactly(3L, 2L, 0L);
    assertThat(curve).extracting(Point::share).containsExactly(1.0, 2 / 3.0, 0.0);
  }

  @Test
  void thresholdsFallAsTheCurveDoes() {
    var random = new Random(20_261_122);
    for (int i = 0; i < 50; i++) {
      SimulatedRun run = run();
      for (String task : List.of("a", "b", "c", "d")) {
        if (random.nextBoolean()) run.correct("Math/" + task, task, 0.2 + 2 * random.nextDouble());
        else run.wrong("Math/" + task, task, Status.TIMEOUT);
      }
      Group all = against(first(run), "eager");
      assertThat(counts(all)).isSortedAccordingTo((one, other) -> Long.compare(other, one));
      List<Point> curve = requireNonNull(all.curve());
      for (Point point : all.thresholds()) {
        Point step = curve.stream().filter(s -> s.p() <= point.p()).toList().getLast();
        assertThat(point.faster()).isEqualTo(step.faster());
      }
    }
  }

  @Test
  void eachBaselineAndTheBestBaselineHaveACurve() {
    FastP fast =
        first(
            run()
                .timed("Math/a", "a", 2.2, 1.1, 0.9)
                .timed("Math/b", "b", 1.6, 1.7, 1.2)
                .wrong("Math/c", "c", Status.CRASHED));
    assertThat(fast.against())
        .extracting(Against::baseline)
        .containsExactly("eager", "compile", "max-autotune", "best");
    assertThat(counts(against(fast, "eager"))).containsExactly(2L, 2L, 2L, 2L, 2L, 1L);
    assertThat(counts(against(fast, "compile"))).containsExactly(2L, 2L, 2L, 2L, 1L, 0L);
    assertThat(counts(against(fast, "max-autotune"))).containsExactly(2L, 2L, 2L, 1L, 0L, 0L);
    assertThat(fast.rows())
        .extracting(row -> row.speedups().get("best"))
        .containsExactly(0.9, 1.2, null);
  }

  /** Not compiled is no speed of 0, and no reason to forget what is known without it. */
  @Test
  void correctCandidateWithoutSpeedupMakesFastPUnknown() {
    FastP fast =
        first(run().timed("Math/a", "a", 2.2, Double.NaN, 0.9).timed("Loss/e", "e", 1.6, 1.2, 1.2));
    Group compile = against(fast, "compile");
    assertThat(compile.unknown()).isEqualTo(1);
    assertThat(compile.curve()).isNull();
    assertThat(compile.thresholds().getFirst().share()).isEqualTo(1);
    assertThat(compile.thresholds().subList(1, 6))
        .allMatch(point -> point.faster() == null && point.share() == null);
    assertThat(against(fast, "best").unknown()).as("best of those there are").isZero();
    assertThat(fast.against().get(1).categories().getFirst().unknown()).as("Loss").isZero();
    assertThat(SectionText.of(80, FastPSection.of(fast)))
        .contains("– unknown: 1 of 2 correct candidates have no speedup against compile.")
        .doesNotContain("against eager.");
  }

  @Test
  void correctRateIsKnownWithoutTimings() {
    SimulatedRun cpu =
        SimulatedRun.on(SimulatedRun.CPU, 1).correct("Math/a", "a", 1).asking("*", 10);
    FastP fast = first(cpu);
    Group all = against(fast, "eager");
    assertThat(all.unknown()).isEqualTo(1);
    assertThat(all.thresholds().getFirst().share()).isEqualTo(1);
    assertThat(SectionText.of(80, FastPSection.of(fast)))
        .contains("Nothing was timed: the run used no GPU");
  }

  @Test
  void fastPIsKnownWithoutCorrectCandidates() {
    Group all = against(first(run().wrong("Math/a", "a", Status.TIMEOUT)), "eager");
    assertThat(counts(all)).containsExactly(0L, 0L, 0L, 0L, 0L, 0L);
    assertThat(all.thresholds().getLast().high()).isCloseTo(0.7935, within(1e-3));
  }

  @Test
  void firstSampleRepresentsTaskUnlessBestIsRequested() {
    SimulatedRun run =
        run()
            .wrong("Math/a", "a0", Status.WRONG_VALUES)
            .correct("Math/a", "a1", 1.2)
            .correct("Math/a", "a2", 1.6)
            .correct("Math/a", "a3", 1.4)
            .correct("Math/b", "b0", 0.9)
            .wrong("Math/b", "b1", Status.WRONG_VALUES);
    assertThat(counts(against(first(run), "eager"))).containsExactly(1L, 1L, 1L, 0L, 0L, 0L);
    FastP best = of(run, TEN, Pick.BEST_SAMPLE);
    assertThat(counts(against(best, "eager"))).containsExactly(2L, 2L, 2L, 1L, 1L, 0L);
    assertThat(best.rows()).extracting(FastP.Row::sample).containsExactly(2, 0);
    assertThat(SectionText.of(80, FastPSection.of(first(run))))
        .contains("the first sample (number 0)");
    assertThat(SectionText.of(80, FastPSection.of(best))).contains("the best of its samples");
  }

  @Test
  void aCorrectSampleOfUnknownSpeedMayBeTheBest() {
    SimulatedRun run = run().correct("Math/a", "a0", 1.2).untimed("Math/a", "a1");
    assertThat(against(of(run, TEN, Pick.BEST_SAMPLE), "eager").unknown()).isEqualTo(1);
  }

  @Test
  void variantsBesideThePublishedTasksDoNotCount() {
    FastP fast = first(run().correct("Math/a", "a", 1.2).correct("Math/a_fp16", "variant", 1.2));
    assertThat(counts(against(fast, "eager")).getFirst()).isEqualTo(1);
    assertThat(fast.series().extra()).isEqualTo(1);
    assertThat(SectionText.of(80, FastPSection.of(fast)))
        .contains("1 candidate is for a dtype variant outside the 10 published tasks; not");
  }

  @Test
  void anUnknownSuiteHasNoCoverageByCategory() {
    SimulatedRun run = run().correct("Math/a", "a", 1.2);
    JudgedRun judged = run.judged();
    FastP fast = of(run, SelectedTasks.counted(judged), Pick.FIRST_SAMPLE);
    Against eager = fast.against().getFirst();
    assertThat(eager.overall().thresholds().getFirst().share()).isEqualTo(1);
    assertThat(eager.categories().getFirst().asked()).isNull();
    assertThat(SectionText.of(80, FastPSection.of(fast))).containsPattern("Math +1 +1 +100.0 %");
  }

  @Test
  void methodsAreSeparateAndUnjudgedCandidatesAreNamed() {
    SimulatedRun run =
        run()
            .by("one")
            .correct("Math/a", "a", 1.2)
            .wrong("Math/b", "b", Status.INFRASTRUCTURE)
            .by("two")
            .correct("Math/a", "another a", 0.8)
            .cutOff(7);
    List<FastP> all = FastP.of(run.judged(), TEN, Pick.FIRST_SAMPLE);
    assertThat(all).extracting(fast -> fast.series().method()).containsExactly("one", "two");
    assertThat(SectionText.of(80, FastPSection.of(all.getFirst())))
        .contains(
            "method one",
            "Cut off, without a verdict: 7 of 10",
            "Not judged, as kbx or the task failed: 1 of 2 candidates");
    assertThat(counts(against(all.getLast(), "eager"))).containsExactly(1L, 1L, 0L, 0L, 0L, 0L);
  }

  @Test
  void warmCacheIsNamed() {
    assertThat(SectionText.of(80, FastPSection.of(first(run().timed("Math/a", "a", 2, 2, 2)))))
        .doesNotContain("warm");
    SimulatedRun warm = run().against("best, warm cache").timed("Math/a", "a", 2, 2, 2);
    assertThat(SectionText.of(80, FastPSection.of(first(warm))))
        .contains("Timed with a warm cache.");
  }

  @Test
  void runWithoutCorrectStageIsRefused() {
    SimulatedRun run = run().stages(Stage.STATIC, Stage.CALL).untimed("Math/a", "a");
    assertThatThrownBy(() -> first(run))
        .isInstanceOf(IncomparableRuns.class)
        .hasMessageContaining("the correct stage was not asked for");
  }
}
