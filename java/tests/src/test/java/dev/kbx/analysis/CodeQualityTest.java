package dev.kbx.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.SimulatedRun;
import dev.kbx.analysis.CodeQuality.ComplexityEffect.Failure;
import dev.kbx.analysis.CodeQuality.ComplexityEffect.Measure;
import dev.kbx.analysis.CodeQuality.ComplexityEffect.Of;
import dev.kbx.verdict.SourceFeatures;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Complexity against failure, and what comes of techniques. */
class CodeQualityTest {
  private static SourceFeatures features(int complexity, String... techniques) {
    return new SourceFeatures("s" + complexity, complexity, 10 * complexity, List.of(techniques));
  }

  /** Ten tasks; the more complex the reference is, the fewer kernels can be called. */
  private static SimulatedRun run() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.H200, 1).by("a");
    for (int i = 0; i < 10; i++) {
      run.featuring(i == 9 ? null : features(10 - i, i < 4 ? "fusion" : "split_k"));
      String task = "M/t" + i;
      if (i > 6) run.uncallable(task, "a" + i, Status.COMPILE_ERROR);
      else if (i % 2 == 1) run.wrong(task, "a" + i, Status.WRONG_VALUES);
      else run.correct(task, "a" + i, i == 0 ? 2 : 0.5);
    }
    return run;
  }

  private static CodeQuality of(SimulatedRun run, Map<String, SelectedRun.TaskTraits> traits) {
    return CodeQuality.of(
        new SelectedRuns(
            List.of(new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), traits))));
  }

  private static Map<String, SelectedRun.TaskTraits> traits() {
    Map<String, SelectedRun.TaskTraits> traits = new HashMap<>();
    for (int i = 0; i < 10; i++) {
      Integer complexity = i == 8 ? null : (Integer) (i + 1);
      traits.put(
          "M/t" + i,
          new SelectedRun.TaskTraits(1, "op", "memory", "float32", complexity, complexity));
    }
    return traits;
  }

  private static CodeQuality.ComplexityEffect effect(CodeQuality quality, Of of, Failure failure) {
    return quality.complexity().stream()
        .filter(each -> each.maker() == null && each.of() == of && each.failure() == failure)
        .filter(each -> each.measure() == Measure.COMPLEXITY)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void callAndValueFailuresAreSeparate() {
    CodeQuality quality = of(run(), traits());
    CodeQuality.ComplexityEffect call = effect(quality, Of.REFERENCE, Failure.CALL);
    assertThat(call.tasks()).as("one reference is not known").isEqualTo(9);
    // scipy.stats.spearmanr(range(9), [0]*7 + [1]*2), SciPy 1.17.1.
    assertThat(call.rho()).isCloseTo(0.7245688373094719, within(1e-12));
    assertThat(call.low()).as("none fails in many resamples").isNull();
    CodeQuality.ComplexityEffect semantic = effect(quality, Of.REFERENCE, Failure.SEMANTIC);
    assertThat(semantic.candidates()).as("those that can be called").isEqualTo(7);
    assertThat(semantic.rho()).isCloseTo(0, within(1e-12));
    CodeQuality.ComplexityEffect own = effect(quality, Of.CANDIDATE, Failure.CALL);
    assertThat(own.candidates()).as("one source is not known").isEqualTo(9);
    assertThat(own.rho()).as("more complex candidates can be called").isNegative();
    assertThat(quality.withoutFeatures()).isEqualTo(1);
    assertThat(quality.withoutReference()).isEqualTo(1);
  }

  @Test
  void referenceCountsOnceWithShareOfItsCandidates() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.CPU, 1).by("a");
    run.untimed("M/t0", "a").untimed("M/t0", "b");
    run.untimed("M/t1", "c").uncallable("M/t1", "d", Status.TIMEOUT);
    run.uncallable("M/t2", "e", Status.TIMEOUT);
    CodeQuality.ComplexityEffect call = effect(of(run, traits()), Of.REFERENCE, Failure.CALL);
    assertThat(call.tasks()).isEqualTo(3);
    assertThat(call.candidates()).isEqualTo(5);
    assertThat(call.rho()).isCloseTo(1, within(1e-12));
  }

  @Test
  void techniquesHaveAttemptsAndSuccesses() {
    SimulatedRun run = run().by("b").featuring(features(1, "split_k"));
    run.correct("M/t0", "b", 3).by("c").featuring(features(1)).correct("M/t0", "c", 3);
    List<CodeQuality.TechniqueUse> techniques = of(run, Map.of()).techniques();
    assertThat(techniques)
        .extracting(CodeQuality.TechniqueUse::technique)
        .containsExactly("fusion", "split_k");
    CodeQuality.TechniqueUse.Use fusion = techniques.getFirst().all();
    assertThat(fusion.known()).isEqualTo(11);
    assertThat(fusion.attempted()).isEqualTo(4);
    assertThat(fusion.correct()).isEqualTo(2);
    assertThat(fusion.faster()).isEqualTo(1);
    assertThat(fusion.share()).isCloseTo(0.5, within(1e-12));
    assertThat(techniques.getLast().makers())
        .extracting(each -> each.use().correct() + "/" + each.use().attempted())
        .containsExactly("2/5", "1/1", "0/0");
  }

  @Test
  void unmeasuredStagesAreNamed() {
    SimulatedRun run =
        SimulatedRun.on(SimulatedRun.CPU, 1)
            .stages(Stage.STATIC, Stage.COMPILE, Stage.CALL)
            .by("a")
            .featuring(features(1, "fusion"))
            .untimed("M/t0", "a");
    CodeQuality quality = of(run, traits());
    assertThat(quality.unmeasured())
        .extracting(Methods.Unmeasured::outcome)
        .containsExactly(Outcome.CORRECT, Outcome.FASTER);
    assertThat(quality.techniques()).isEmpty();
    assertThat(quality.complexity()).allMatch(each -> each.failure() == Failure.CALL);
    SimulatedRun untimed = SimulatedRun.on(SimulatedRun.CPU, 1).featuring(features(1, "fusion"));
    untimed.untimed("M/t0", "a");
    assertThat(of(untimed, traits()).techniques().getFirst().all().faster()).isNull();
  }
}
