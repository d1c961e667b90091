package dev.kbx.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What goes wrong, counted. */
class ErrorsTest {
  private static Errors of(SimulatedRun run) {
    Causes causes = new Causes();
    List<VerdictRow> rows = new ArrayList<>();
    for (Verdict verdict : run.verdicts()) {
      VerdictRow row = VerdictRow.of(verdict);
      rows.add(row);
      causes.add(row, BriefVerdict.of(verdict));
    }
    JudgedRun judged = new JudgedRun(run.info(), rows);
    return Errors.of(
        new SelectedRuns(List.of(new SelectedRun(judged, SelectedTasks.counted(judged), Map.of()))),
        causes);
  }

  private static SimulatedRun run() {
    return SimulatedRun.on(SimulatedRun.CPU, 1)
        .by("a")
        .untimed("M/a", "right")
        .saying("shape=(3,), standard values: 2 wrong elements")
        .wrong("M/b", "b", Status.WRONG_VALUES)
        .saying("shape=(5,), uniform values: 17 wrong elements")
        .wrong("M/c", "c", Status.WRONG_VALUES)
        .by("b")
        .saying("shape=(7,), uniform values: 3 wrong elements")
        .wrong("M/c", "c2", Status.WRONG_VALUES)
        .saying("NameError (line 4): name 'x' is not defined")
        .uncallable("N/d", "d", Status.RUNTIME_ERROR)
        .saying(null)
        .wrong("N/e", "e", Status.INFRASTRUCTURE);
  }

  @Test
  void countsByStageAndStatus() {
    Errors errors = of(run());
    assertThat(errors.failed()).as("not those that kbx failed on").isEqualTo(4);
    assertThat(errors.statuses()).hasSize(2);
    Errors.OfStatus called = errors.statuses().getFirst();
    assertThat(called.stage()).isEqualTo(Stage.CALL);
    assertThat(called.status()).isEqualTo(Status.RUNTIME_ERROR);
    Errors.OfStatus values = errors.statuses().getLast();
    assertThat(values.candidates()).isEqualTo(3);
    assertThat(values.tasks()).isEqualTo(2);
    assertThat(values.makers())
        .containsExactly(
            new Errors.OfMaker(new MethodAndModel("a", null), 2),
            new Errors.OfMaker(new MethodAndModel("b", null), 1));
  }

  @Test
  void countsEqualMistakesTogether() {
    List<Errors.OfMessage> messages = of(run()).messages();
    assertThat(messages).hasSize(2);
    Errors.OfMessage values = messages.getFirst();
    assertThat(values.shape()).isEqualTo("# wrong elements");
    assertThat(values.candidates()).isEqualTo(3);
    assertThat(values.example()).isEqualTo("shape=(3,), standard values: 2 wrong elements");
    assertThat(values.task()).isEqualTo("M/b");
    assertThat(values.source()).isEqualTo("b.py");
  }

  @Test
  void countsRulesAndPropertiesApart() {
    SimulatedRun run =
        SimulatedRun.on(SimulatedRun.CPU, 1)
            .rejected("M/a", "a", "no-kernel")
            .rejected("M/b", "b", "no-kernel")
            .rejected("M/c", "c", "hidden-code")
            .breaking("M/d", "d", "non_contiguous", "empty")
            .breaking("M/e", "e", "empty");
    Errors errors = of(run);
    assertThat(errors.rules())
        .containsExactly(
            new Errors.OfRule("no-kernel", 2, 2), new Errors.OfRule("hidden-code", 1, 1));
    assertThat(errors.publishedOk()).isEqualTo(2);
    assertThat(errors.properties())
        .containsExactly(
            new Errors.OfProperty("empty", 2, 2), new Errors.OfProperty("non_contiguous", 1, 1));
  }

  @Test
  void reportsThatResultsWereNotCompared() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.CPU, 1).untimed("M/a", "a");
    assertThat(of(run).uncompared()).isNull();
    assertThat(of(run.stages(Stage.STATIC, Stage.CALL)).uncompared())
        .isEqualTo("the correct stage was not asked for");
  }

  @Test
  void propertiesAreAlsoCountedTogether() {
    SimulatedRun run =
        SimulatedRun.on(SimulatedRun.CPU, 1)
            .breaking("M/a", "a", "empty", "zero_dim")
            .breaking("M/b", "b", "empty", "zero_dim")
            .breaking("M/c", "c", "empty");
    assertThat(of(run).breaking())
        .containsExactly(
            new Errors.Breaking(List.of("empty", "zero_dim"), 2),
            new Errors.Breaking(List.of("empty"), 1));
  }
}
