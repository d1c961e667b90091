package dev.kbx.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.groups.Tuple.tuple;

import dev.kbx.SectionText;
import dev.kbx.analysis.BudgetCurve.Point;
import dev.kbx.analysis.TrajectoryRow.Round;
import dev.kbx.section.BudgetSection;
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Status;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BudgetCurveTest {
  private static Spent calls(long calls) {
    return new Spent.Amounts()
        .calls(calls)
        .requests(calls)
        .tokens(100 * calls)
        .unpriced(calls)
        .spent();
  }

  private static TrajectoryRow row(
      String task, int sample, @Nullable Boolean correct, long spent, long reached) {
    return new TrajectoryRow(
        "refine", "m", task, sample, true, null, correct, List.of(), calls(spent), calls(reached));
  }

  private static BudgetCurve curve(BudgetCurve.Kind kind, TrajectoryRow... rows) {
    return BudgetCurve.of(List.of(rows)).stream()
        .filter(curve -> curve.kind() == kind)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aTaskIsSolvedWhenItsTrajectoryReachedTheKernel() {
    BudgetCurve curve =
        curve(
            BudgetCurve.Kind.CALLS,
            row("A/a", 0, true, 10, 2),
            row("A/b", 0, true, 10, 5),
            row("A/c", 0, false, 10, 1),
            row("A/d", 0, true, 8, 2));
    assertThat(curve.points())
        .extracting(Point::budget, Point::solved, Point::share)
        .containsExactly(
            tuple(0.0, 0, 0.0), tuple(2.0, 2, 0.5), tuple(5.0, 3, 0.75), tuple(10.0, 3, 0.75));
    assertThat(curve.at(4.9).solved()).isEqualTo(2);
    assertThat(curve.at(2).low()).as("Wilson").isCloseTo(0.1500, within(1e-4));
  }

  /** The learning curve by turn: of replies without a kernel, and of unjudged ones, is none. */
  @Test
  void turnsAreKernelsThatWereJudged() {
    Round none = new Round("turn-0", false, null, null, null);
    Round wrong = new Round("turn-1", true, Status.WRONG_VALUES, null, null);
    Round right = new Round("turn-2", true, Status.CORRECT, null, null);
    BudgetCurve curve =
        curve(
            BudgetCurve.Kind.TURNS,
            row("A/a", true, List.of(none, wrong, right, right)),
            row("A/b", true, List.of(right)),
            row("A/c", false, List.of(right, wrong)),
            row("A/d", true, List.of(wrong, wrong, wrong, wrong)));
    assertThat(curve.points())
        .extracting(Point::budget, Point::solved)
        .containsExactly(tuple(0.0, 0), tuple(1.0, 1), tuple(2.0, 2), tuple(4.0, 3));
    assertThat(curve(BudgetCurve.Kind.TURNS, row("A/a", true, List.of(none))).unknown())
        .isEqualTo("nothing was judged for feedback");
  }

  private static TrajectoryRow row(String task, boolean correct, List<Round> rounds) {
    return new TrajectoryRow(
        "refine", "m", task, 0, true, null, correct, rounds, calls(9), calls(9));
  }

  @Test
  void budgetIsSpentSampleBySample() {
    BudgetCurve curve =
        curve(
            BudgetCurve.Kind.CALLS,
            row("A/a", 2, true, 1, 1),
            row("A/a", 0, false, 1, 1),
            row("A/a", 1, false, 3, 3));
    assertThat(curve.points())
        .extracting(Point::budget, Point::solved)
        .containsExactly(tuple(0.0, 0), tuple(5.0, 1));
  }

  @Test
  void unknownPriceOrTokensGiveNoCurve() {
    TrajectoryRow row = row("A/a", 0, true, 3, 1);
    assertThat(curve(BudgetCurve.Kind.TOKENS, row).unknown()).isNull();
    assertThat(curve(BudgetCurve.Kind.USD, row).unknown()).contains("price");
    assertThat(curve(BudgetCurve.Kind.DEVICE_SECONDS, row).unknown())
        .contains("nothing was judged");
    assertThat(curve(BudgetCurve.Kind.CALLS, row("A/a", 0, null, 3, 1)).unknown())
        .contains("no answer has a final judgement");
  }

  @Test
  void replyWithoutTokenCountMakesTokensAndMoneyUnknown() {
    Spent unknown =
        new Spent.Amounts().calls(2).requests(2).tokens(100).uncounted(1).unpriced(2).spent();
    TrajectoryRow row =
        new TrajectoryRow("refine", "m", "A/b", 0, true, null, true, List.of(), unknown, unknown);
    BudgetCurve curve = curve(BudgetCurve.Kind.TOKENS, row("A/a", 0, true, 3, 1), row);
    assertThat(curve.points()).isEmpty();
    assertThat(curve.unknown()).isEqualTo("the tokens of some requests are not known");
  }

  @Test
  void tasksWithoutAFinalJudgementAreLeftOutAndCounted() {
    BudgetCurve curve =
        curve(BudgetCurve.Kind.CALLS, row("A/a", 0, true, 3, 1), row("A/b", 0, null, 3, 1));
    assertThat(curve.tasks()).isEqualTo(1);
    assertThat(curve.unjudged()).isEqualTo(1);
    String text =
        SectionText.of(100, BudgetSection.of(new BudgetSection.Curves("r", List.of(curve))));
    assertThat(text).contains("1 task (left out without a final judgement: 1)");
  }

  @Test
  void aTableHasTheBudgetsAtWhichCurvesStep() {
    TrajectoryRow[] rows = new TrajectoryRow[40];
    for (int i = 0; i < rows.length; i++) rows[i] = row("A/" + i, 0, true, 50, i + 1);
    BudgetCurve curve = curve(BudgetCurve.Kind.CALLS, rows);
    assertThat(BudgetCurve.levels(List.of(curve), 4)).containsExactly(10, 21, 31, 50);
    assertThat(BudgetCurve.levels(List.of(curve), 100)).hasSize(41);
    String text =
        SectionText.of(80, BudgetSection.of(new BudgetSection.Curves("r", List.of(curve))));
    assertThat(text.lines()).allMatch(line -> line.length() <= 80);
    assertThat(text).contains("refine: model m, 40 tasks", "   50  100.0 % [91.2–100.0]");
  }
}
