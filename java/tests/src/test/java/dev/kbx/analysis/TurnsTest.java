package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.SectionText;
import dev.kbx.analysis.FeedbackChange.Followed;
import dev.kbx.analysis.FeedbackChange.Next;
import dev.kbx.analysis.TrajectoryRow.Round;
import dev.kbx.section.TurnsSection;
import dev.kbx.section.TurnsSection.Turns;
import dev.kbx.stats.KaplanMeier.Step;
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Status;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TurnsTest {
  private static final Status WRONG = Status.WRONG_VALUES;
  private static final Status RIGHT = Status.CORRECT;

  private static TrajectoryRow row(
      String task, @Nullable Boolean correct, double usd, Status... turns) {
    Spent spent = new Spent.Amounts().calls(turns.length).usd(usd).uncounted(1).spent();
    List<Round> rounds = new ArrayList<>();
    rounds.add(new Round("no code", false, null, null, null));
    for (Status status : turns) rounds.add(new Round("turn", true, status, null, null));
    return new TrajectoryRow("refine", "m", task, 0, true, null, correct, rounds, spent, spent);
  }

  private static CostPerSolved.Amount cost(BudgetCurve.Kind kind, TrajectoryRow... rows) {
    return CostPerSolved.of(List.of(rows)).getFirst().of(kind);
  }

  private static String text(TrajectoryRow... rows) {
    return SectionText.words(TurnsSection.of(Turns.of("r", List.of(rows), List.of())));
  }

  @Test
  void unsolvedTasksCostToo() {
    TrajectoryRow[] rows = {
      row("A/a", true, 0.5, RIGHT), row("A/b", true, 0.5, WRONG, WRONG, RIGHT),
      row("A/c", false, 2, WRONG, WRONG), row("A/d", null, 9, WRONG)
    };
    CostPerSolved.Amount usd = cost(BudgetCurve.Kind.USD, rows);
    assertThat(usd.each()).as("of the three with a final judgement").isEqualTo(1.5);
    assertThat(usd.spent()).isEqualTo(3);
    assertThat(usd.low()).as("draws of solved tasks alone").isEqualTo(0.5);
    assertThat(usd.high()).as("1 of 27 draws has no solved task").isNull();
    assertThat(cost(BudgetCurve.Kind.CALLS, rows).each()).isEqualTo(3);
    assertThat(cost(BudgetCurve.Kind.TURNS, rows).each()).isEqualTo(3);
    assertThat(text(rows))
        .contains("2 of 3 3", "1.50 [0.50–∞]")
        .contains("tokens of refine · m: not known, as the tokens of some requests are not known.");
  }

  /** The interval of a ratio of sums: near that of a mean where each task costs about the same. */
  @Test
  void intervalIsOverTasks() {
    List<TrajectoryRow> rows = new ArrayList<>();
    for (int i = 0; i < 100; i++) rows.add(row("A/" + i, i % 2 == 0, 1, WRONG));
    CostPerSolved.Amount usd = cost(BudgetCurve.Kind.USD, rows.toArray(TrajectoryRow[]::new));
    assertThat(usd.each()).isEqualTo(2);
    assertThat(usd.low()).isCloseTo(1 / (0.5 + 1.96 * 0.05), within(0.05));
    assertThat(usd.high()).isCloseTo(1 / (0.5 - 1.96 * 0.05), within(0.1));
  }

  @Test
  void unknownCostsAreAbsent() {
    CostPerSolved.Amount none = cost(BudgetCurve.Kind.USD, row("A/a", false, 1, WRONG));
    assertThat(none)
        .extracting(CostPerSolved.Amount::each, CostPerSolved.Amount::spent)
        .containsExactly(null, 1.0);
    CostPerSolved.Amount one = cost(BudgetCurve.Kind.USD, row("A/a", true, 1, RIGHT));
    assertThat(one.each()).isEqualTo(1);
    assertThat(one.low()).as("one task").isNull();
    assertThat(cost(BudgetCurve.Kind.TOKENS, row("A/a", true, 1, RIGHT)).each()).isNull();
    assertThat(text(row("A/a", false, 1, WRONG))).contains("refine · m: nothing was solved.");
  }

  @Test
  void trajectoriesThatAreNeverCorrectAreCensored() {
    TurnsToCorrect turns =
        TurnsToCorrect.of(
                List.of(
                    row("A/a", true, 1, RIGHT, WRONG),
                    row("A/b", true, 1, WRONG, RIGHT),
                    row("A/c", false, 1, WRONG),
                    row("A/d", false, 1, WRONG, WRONG, WRONG),
                    row("A/e", false, 1)))
            .getFirst();
    assertThat(turns.trajectories()).isEqualTo(4);
    assertThat(turns.correct()).isEqualTo(2);
    assertThat(turns.withoutTurn()).isEqualTo(1);
    assertThat(requireNonNull(turns.byTurn()).steps())
        .extracting(Step::time, Step::atRisk, Step::events, Step::censored, Step::share)
        .containsExactly(
            tuple(1, 4, 1, 1, 0.25),
            tuple(2, 2, 1, 0, 0.625), // 1 − ¾ · ½
            tuple(3, 1, 0, 1, 0.625));
    assertThat(turns.median()).isEqualTo(2);
    assertThat(TurnsToCorrect.of(List.of(row("A/e", false, 1))).getFirst().byTurn()).isNull();
  }

  private static Followed followed(String task, Status before, Status after, double changed) {
    return new Followed("refine", "m", task, before, after, changed);
  }

  @Test
  void feedbackIsGroupedByItsStatus() {
    List<FeedbackChange> changes =
        FeedbackChange.of(
            List.of(
                followed("A/a", Status.COMPILE_ERROR, WRONG, 0.1),
                followed("A/a", WRONG, WRONG, 0.2),
                followed("A/a", WRONG, RIGHT, 0.4),
                followed("A/b", WRONG, WRONG, 0),
                followed("A/b", WRONG, RIGHT, 0.9)));
    assertThat(changes)
        .extracting(FeedbackChange::status, FeedbackChange::followed, FeedbackChange::same)
        .containsExactly(tuple(WRONG, 4, 2), tuple(Status.COMPILE_ERROR, 1, 0));
    FeedbackChange wrong = changes.getFirst();
    assertThat(wrong.correct().value()).isEqualTo(0.5);
    assertThat(wrong.unchanged()).isEqualTo(1);
    assertThat(wrong.changed()).isEqualTo(0.4);
    assertThat(wrong.next()).containsExactly(new Next(RIGHT, 2), new Next(WRONG, 2));
    String text = SectionText.words(TurnsSection.of(new Turns("r", List.of(), List.of(), changes)));
    assertThat(text).contains("40.0 %", "correct 2, wrong_values 2");
  }
}
