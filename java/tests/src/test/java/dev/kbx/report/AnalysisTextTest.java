package dev.kbx.report;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SectionText;
import dev.kbx.SimulatedRun;
import dev.kbx.analysis.Causes;
import dev.kbx.analysis.CodeQuality;
import dev.kbx.analysis.Comparison;
import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.DeviceUse;
import dev.kbx.analysis.Errors;
import dev.kbx.analysis.FastP;
import dev.kbx.analysis.Finding;
import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.PassK;
import dev.kbx.analysis.Portability;
import dev.kbx.analysis.SelectedRun;
import dev.kbx.analysis.SelectedRuns;
import dev.kbx.analysis.SelectedTasks;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Document;
import dev.kbx.document.TerminalRenderer;
import dev.kbx.document.Text;
import dev.kbx.section.AdvisedErrors;
import dev.kbx.section.ComparisonSection;
import dev.kbx.section.DevianceSection;
import dev.kbx.section.EfficiencySection;
import dev.kbx.section.ErrorsSection;
import dev.kbx.section.FastPSection;
import dev.kbx.section.InclusionSection;
import dev.kbx.section.IterationsSection;
import dev.kbx.section.MethodsSection;
import dev.kbx.section.OverviewSection;
import dev.kbx.section.PassKSection;
import dev.kbx.section.PortabilitySection;
import dev.kbx.section.QualitySection;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.SourceFeatures;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** No line of an analysis is wider than the terminal. */
class AnalysisTextTest {
  private static SimulatedRun run(int number) {
    return SimulatedRun.on(SimulatedRun.H200, number);
  }

  @Test
  void comparisonsFit() {
    SimulatedRun then = run(1);
    SimulatedRun now = run(2);
    IntStream.range(0, 100)
        .forEach(i -> {
          String task = "Normalization/a_rather_long_task_name_" + i;
          then.correct(task, "t" + i, 1);
          if (i % 3 == 0) now.wrong(task, "n" + i, Status.NONDETERMINISTIC);
          else now.correct(task, "n" + i, 1 + i / 100.0);
        });
    Comparison comparison = Comparison.of(then.judged(), now.judged(), List.of());
    for (int width : new int[] {80, 120}) {
      assertThat(SectionText.of(width, ComparisonSection.of(comparison)).lines())
          .allMatch(line -> Text.columns(line) <= width);
    }
    assertThat(SectionText.of(120, ComparisonSection.of(comparison)))
        .contains("40 more, which changed least");
  }

  @Test
  void fastpFits() {
    SimulatedRun run = run(1);
    for (int i = 0; i < 120; i++) {
      run.timed("MatrixMultiply/a_long_name_" + i, "m" + i, 2.5, 2.4, 2.3);
    }
    SelectedTasks asked = SelectedTasks.counted(run.judged());
    FastP fast = FastP.of(run.judged(), asked, FastP.Pick.FIRST_SAMPLE).getFirst();
    String text = SectionText.of(80, FastPSection.of(fast));
    assertThat(text.lines()).allMatch(line -> Text.columns(line) <= 80);
    assertThat(text)
        .contains("100.0 % [96.9–100.0]", "fast_0.5", "max-autotune")
        .doesNotContain("…");
  }

  @Test
  void passkFits() {
    SimulatedRun run = run(1);
    for (int task = 0; task < 120; task++) {
      String name = "MatrixMultiply/m" + task;
      int wrong = task / 119;
      for (int i = 0; i < 9 - wrong; i++) run.correct(name, name + i, 1.5);
      for (int i = 0; i < wrong; i++) run.wrong(name, name + " w" + i, Status.WRONG_VALUES);
    }
    SelectedTasks asked = SelectedTasks.counted(run.judged());
    PassK pass = PassK.of(run.judged(), asked, List.of(1, 2, 3, 4, 5, 6, 7)).getFirst();
    String text = SectionText.of(80, PassKSection.of(pass));
    assertThat(text.lines()).allMatch(line -> Text.columns(line) <= 80);
    assertThat(text).contains("99.9 % [99.7–100.0] of 120", "100.0 % of 120", "pass@7");
    PassK.Measure correct =
        pass.measures().stream()
            .filter(m -> m.pass() == PassK.Pass.CORRECT)
            .findAny()
            .orElseThrow();
    PassK.At two = requireNonNull(correct.overall()).at().get(1);
    assertThat(two.value()).isEqualTo(1);
    assertThat(two.low()).as("resampling tasks that agree says nothing").isNull();
  }

  @Test
  void speedupsOfAKernelShareOneScale() {
    SimulatedRun h200 = SimulatedRun.on(SimulatedRun.H200, 1).correct("M/a", "a", 4);
    SimulatedRun a100 = SimulatedRun.on(SimulatedRun.A100, 2).correct("M/a", "a", 1);
    h200.correct("M/b", "b", 2).notGeneral().correct("M/c", "c", 0.25);
    a100.correct("M/b", "b", 2).notGeneral().correct("M/c", "c", 1);
    Portability portability = Portability.of(List.of(h200.judged(), a100.judged()));
    assertThat(new SpreadFigure(57).lines(portability.kernels()))
        .containsExactly(
            "spread  general  0.25×       4.00×",
            "M/a     yes      ········B·······A",
            "M/c     no       A·······B········",
            "M/b     yes      ········|···*····");
  }

  @Test
  void portabilityFits() {
    SimulatedRun first = run(1);
    SimulatedRun second = SimulatedRun.on(SimulatedRun.A100, 2);
    IntStream.range(0, 80)
        .forEach(i -> {
          first.correct("Normalization/a_rather_long_task_name_" + i, "m" + i, 1 + i / 100.0);
          second.correct("Normalization/a_rather_long_task_name_" + i, "m" + i, 1.5);
        });
    Portability portability = Portability.of(List.of(first.judged(), second.judged()));
    for (int width : new int[] {80, 120}) {
      assertThat(SectionText.of(width, PortabilitySection.of(portability)).lines())
          .allMatch(line -> Text.columns(line) <= width);
    }
    assertThat(SectionText.of(120, PortabilitySection.of(portability)))
        .contains("20 more, in the JSON document", "1.50× [");
  }

  @Test
  void devianceFits() {
    SimulatedRun run = run(1);
    for (String method : List.of("a_method_with_a_long_name", "single", "refine", "nothing")) {
      run.by(method);
      for (int i = 0; i < 60; i++) {
        String task = "MatrixMultiply%d/a_rather_long_task_name_%d".formatted(i % 5, i);
        boolean solved = !method.equals("nothing") && (i * method.length()) % 7 < 3;
        if (solved) run.correct(task, method + i, i % 2 + 0.6);
        else run.wrong(task, method + i, Status.WRONG_VALUES);
      }
    }
    SelectedRun asked =
        new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), Map.of());
    Deviance deviance = Deviance.of(new SelectedRuns(List.of(asked)));
    for (int width : new int[] {80, 100}) {
      String text = deviance(width, deviance);
      assertThat(text.lines()).allMatch(line -> Text.columns(line) <= width);
      assertThat(text)
          .contains("with task p", "Firth")
          .contains("called: no figures: 240 of 240 pass, nothing to explain.")
          .doesNotContain("…");
      assertThat(text.replace('\n', ' ')).contains("without the level nothing, which never passes");
    }
    assertThat(deviance(100, deviance)).contains("per df");
    assertThat(deviance(80, deviance)).doesNotContain("per df");
  }

  private static String deviance(int width, Deviance deviance) {
    return new TerminalRenderer(width).render(Document.of(DevianceSection.of(deviance)));
  }

  @Test
  void iterationsFit() {
    SimulatedRun run = run(1).by("a_method_with_a_long_name").model("a-model-with-a-long-name");
    for (int round = 0; round < 3; round++) {
      run.round(round);
      for (int i = 0; i < 120; i++) {
        String task = "MatrixMultiply/a_rather_long_task_name_" + i;
        String code = i % 3 == 0 ? "same" + i : "code%d.%d".formatted(i, round);
        if (i % 4 <= round) run.correct(task, code, 1 + (i + round) / 100.0);
        else run.wrong(task, code, Status.WRONG_VALUES);
      }
    }
    run.by("sample");
    for (int i = 0; i < 4; i++) run.correct("MatrixMultiply/m", "s" + i, 1);
    Iterations iterations =
        Iterations.of(
            new SelectedRuns(
                List.of(
                    new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), Map.of()))),
            List.of());
    for (int width : new int[] {80, 100}) {
      String text = SectionText.of(width, IterationsSection.of(iterations));
      assertThat(text.lines()).allMatch(line -> Text.columns(line) <= width);
      assertThat(text).contains("rescued", "floor", "100.0 % of 1");
      assertThat(text.replace('\n', ' ')).contains("are the same source byte by byte");
      assertThat(text.lines().skip(1)).noneMatch(line -> line.endsWith("…"));
    }
  }

  @Test
  void candidatesOfATaskAreTheirMean() {
    SimulatedRun run = run(1).by("sample");
    for (int i = 0; i < 4; i++) run.correct("Math/exp", "exp" + i, 1.5);
    run.correct("Math/log", "log", 1.5);
    Methods methods =
        Methods.of(
            new SelectedRuns(
                List.of(
                    new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), Map.of()))),
            List.of(1),
            List.of());
    String text = SectionText.of(80, InclusionSection.of(methods.entered()));
    assertThat(text.lines().toList()).last().asString().endsWith(" 5      2       2.5");
  }

  @Test
  void methodsFit() {
    SimulatedRun run = run(1);
    for (String method : List.of("a_method_with_a_long_name", "sample", "single", "refine")) {
      for (String model : List.of("a-model-with-a-long-name", "b")) {
        run.by(method).model(model);
        for (int i = 0; i < 60; i++) {
          String task = "MatrixMultiply%d/a_rather_long_task_name_%d".formatted(i % 5, i);
          String code = method + model + i;
          if ((i * code.length()) % 7 < 3) run.correct(task, code, i % 2 + 0.6);
          else run.wrong(task, code, Status.WRONG_VALUES);
          if (method.equals("sample")) run.correct(task, code + "b", 1.5);
        }
      }
    }
    Methods methods =
        Methods.of(
            new SelectedRuns(
                List.of(
                    new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), Map.of()))),
            List.of(1, 2, 10),
            List.of(1.0, 1.5));
    for (int width : new int[] {80, 100}) {
      String text = SectionText.of(width, MethodsSection.of(methods));
      assertThat(text.lines()).allMatch(line -> Text.columns(line) <= width);
      assertThat(text)
          .contains("fast_1.5@2", "pass@2", "first ahead", "Holm", "nobody", "correct ÷ called")
          .contains("… and 8 more, in the JSON document")
          .doesNotContain("pass@10");
      assertThat(text.lines().skip(1)).noneMatch(line -> line.endsWith("…"));
    }
  }

  @Test
  void errorsFit() {
    SimulatedRun run = run(1);
    for (String method : List.of("a_method_with_a_long_name", "single")) {
      run.by(method).model("a-model-with-a-long-name");
      for (int i = 0; i < 60; i++) {
        String task = "MatrixMultiply/a_rather_long_task_name_" + i;
        run.saying(
            "shape=(%d,), standard values: %d wrong %s, a ".formatted(i, i, "word".repeat(i)));
        run.wrong(task, method + i, Status.WRONG_VALUES);
        run.rejected(task, method + "r" + i, i % 2 == 0 ? "no-kernel" : "of-another-version");
        run.saying(null).breaking(task, method + "b" + i, "option:a_long_option" + i, "empty");
      }
    }
    Causes causes = new Causes();
    List<VerdictRow> rows = VerdictRow.of(run.verdicts());
    for (int i = 0; i < rows.size(); i++)
      causes.add(rows.get(i), BriefVerdict.of(run.verdicts().get(i)));
    JudgedRun judged = new JudgedRun(run.info(), rows);
    AdvisedErrors errors =
        AdvisedErrors.of(
            Errors.of(
                new SelectedRuns(
                    List.of(new SelectedRun(judged, SelectedTasks.counted(judged), Map.of()))),
                causes));
    for (int width : new int[] {80, 100}) {
      String text = SectionText.of(width, ErrorsSection.of(errors));
      assertThat(text.lines()).allMatch(line -> Text.columns(line) <= width);
      assertThat(text)
          .contains("rejected_static", "no-kernel", "wrong_values", "more, in the JSON document")
          .contains("Implement every option");
    }
    assertThat(errors.advice().stream().map(AdvisedErrors.Advice::candidates))
        .as("a rule of another version has no advice")
        .containsExactly(120, 60);
  }

  private static SelectedRuns twoMethods() {
    SimulatedRun run =
        run(1)
            .measuring(
                List.of(
                    Map.of("bound", "memory", "iou", 0.5, "sol_score", 0.5),
                    Map.of("bound", "memory", "iou", 0.5, "sol_score", 0.5),
                    Map.of(
                        "bound",
                        "memory",
                        "iou",
                        0.8,
                        "sol_score",
                        0.6,
                        "peak_bytes",
                        100,
                        "reference_peak_bytes",
                        100)));
    Map<String, SelectedRun.TaskTraits> traits = new HashMap<>();
    for (String method : List.of("a_method_with_a_long_name", "single")) {
      run.by(method).model("a-model-with-a-long-name");
      for (int i = 0; i < 60; i++) {
        String task = "MatrixMultiply/a_rather_long_task_name_" + i % 30;
        run.featuring(
            i == 59
                ? null
                : new SourceFeatures(
                    "s" + i % 7, i % 9, 3 * i, List.of("tensor_cores", "vectorised_access")));
        if (i % 3 == 0) run.wrong(task, method + i, Status.WRONG_VALUES);
        else if (i % 7 == 0) run.uncallable(task, method + i, Status.COMPILE_ERROR);
        else run.correct(task, method + i, 1.5);
        traits.put(task, new SelectedRun.TaskTraits(1, "op", "memory", "float32", i % 5, i % 11));
      }
    }
    return new SelectedRuns(
        List.of(new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), traits)));
  }

  @Test
  void qualityFits() {
    CodeQuality quality = CodeQuality.of(twoMethods());
    for (int width : new int[] {80, 100}) {
      String text = SectionText.of(width, QualitySection.of(quality));
      assertThat(text.lines()).allMatch(line -> Text.columns(line) <= width);
      assertThat(text)
          .contains("reference, complexity", "candidate, lines", "semantic", " to ")
          .containsPattern("tensor cores +118 of 118 ")
          .contains("Nothing is known of the source of 2 candidates");
    }
  }

  @Test
  void efficiencyFits() {
    for (int width : new int[] {80, 100}) {
      String text = SectionText.of(width, EfficiencySection.of(DeviceUse.of(twoMethods())));
      assertThat(text.lines()).allMatch(line -> Text.columns(line) <= width);
      assertThat(text)
          .contains("80.0 % [80.0–80.0]", "0.60", "68/0/0", "MatrixMultiply", "mem/comp/launch");
    }
    SimulatedRun cpu = SimulatedRun.on(SimulatedRun.CPU, 1).untimed("M/a", "a");
    SelectedRun asked =
        new SelectedRun(cpu.judged(), SelectedTasks.counted(cpu.judged()), Map.of());
    assertThat(
            SectionText.of(
                80, EfficiencySection.of(DeviceUse.of(new SelectedRuns(List.of(asked))))))
        .contains("No figures of the device: nothing was timed: the run used no GPU");
  }

  @Test
  void nearDuplicatesAreListed() {
    SimulatedRun run = run(2);
    for (int i = 0; i < 3; i++) {
      run.featuring(new SourceFeatures("s", 1, 1, List.of())).untimed("M/a", "a" + i);
    }
    run.featuring(null).untimed("M/b", "b");
    SelectedRun asked =
        new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), Map.of());
    Errors errors = Errors.of(new SelectedRuns(List.of(asked)), new Causes());
    for (int width : new int[] {80, 100}) {
      String text = SectionText.of(width, ErrorsSection.of(AdvisedErrors.of(errors)));
      assertThat(text)
          .containsPattern("all +3 +1 +3 +1\n")
          .containsPattern(" 3 +M/a +3 +3 +a.py\n")
          .containsPattern("an\\s+earlier\\s+version\\s+judged\\s+it:\\s+1\\.");
      assertThat(text.lines()).allMatch(line -> Text.columns(line) <= width);
    }
  }

  @Test
  void aSummaryFitsAPage() {
    SimulatedRun run = run(1);
    for (String method : List.of("a_method_with_a_long_name", "single")) {
      run.by(method).model("a-model-with-a-long-name");
      for (int round = 0; round < 2; round++) {
        run.round(round);
        for (int i = 0; i < 60; i++) {
          String task = "MatrixMultiply%d/a_rather_long_task_name_%d".formatted(i % 3, i);
          String code = method + i + "." + round;
          if (i % 3 == 0 || i % 4 == round) run.correct(task, code, 1.5);
          else run.saying("word ".repeat(i)).wrong(task, code, Status.WRONG_VALUES);
        }
      }
    }
    String text = SectionText.of(80, OverviewSection.of(overview(run)));
    assertThat(text.lines()).hasSizeLessThan(40).allMatch(line -> Text.columns(line) <= 80);
    assertThat(text.replace('\n', ' '))
        .contains("category explains", "best MatrixMultiply0 100.0 % of 40", "rescued")
        .contains("Advice, by how many of them it is about.");
  }

  private static OverviewSection.Overview overview(SimulatedRun run) {
    Causes causes = new Causes();
    List<VerdictRow> rows = VerdictRow.of(run.verdicts());
    for (int i = 0; i < rows.size(); i++)
      causes.add(rows.get(i), BriefVerdict.of(run.verdicts().get(i)));
    JudgedRun judged = new JudgedRun(run.info(), rows);
    SelectedRuns asked =
        new SelectedRuns(List.of(new SelectedRun(judged, SelectedTasks.counted(judged), Map.of())));
    return new OverviewSection.Overview(
        Finding.of(asked),
        Methods.of(asked, List.of(1), List.of()),
        Deviance.of(asked),
        Iterations.haveRounds(asked) ? Iterations.of(asked, List.of()) : null,
        AdvisedErrors.of(Errors.of(asked, causes)));
  }

  private static String summary(SimulatedRun run) {
    return SectionText.of(200, OverviewSection.of(overview(run)));
  }

  @Test
  void uncomparedCandidateIsNotCalledCorrect() {
    SimulatedRun called = run(1).stages(Stage.STATIC, Stage.CALL).untimed("M/a", "a");
    assertThat(summary(called))
        .contains("What explains failure is not known: the correct stage was not asked for.")
        .contains("0 of 1 candidate failed; not all results were compared, as the correct stage");
    called.uncallable("M/b", "b", Status.COMPILE_ERROR);
    assertThat(summary(called)).contains("1 of 2 candidates failed; not all", ": 1 compile_error.");
    assertThat(summary(run(2).untimed("M/a", "a").untimed("N/b", "b")))
        .contains("What explains failure is not known: 2 of 2 pass, nothing to explain.")
        .contains("0 of 2 candidates are not correct.");
  }

  @Test
  void excludedCandidatesAreNamedByOutcome() {
    SimulatedRun run = run(1).untimed("M/a", "a").wrong("M/b", "b", Status.WRONG_VALUES);
    run.ofUnknownGrade("N/c", "c").correct("N/d", "d", 2);
    SelectedRun asked =
        new SelectedRun(run.judged(), SelectedTasks.counted(run.judged()), Map.of());
    assertThat(deviance(100, Deviance.of(new SelectedRuns(List.of(asked)))))
        .containsPattern("general +2 +3 +1")
        .containsPattern("faster +1 +2 +2");
  }

  @Test
  void adviceNamesACandidateOnce() {
    SimulatedRun run = run(1).breaking("M/a", "a", "empty", "zero_dim", "size_one");
    run.breaking("M/b", "b", "empty", "non_contiguous");
    assertThat(overview(run).errors().general().stream().map(AdvisedErrors.Advice::candidates))
        .as("three of the properties have one line")
        .containsExactly(2, 1);
  }
}
