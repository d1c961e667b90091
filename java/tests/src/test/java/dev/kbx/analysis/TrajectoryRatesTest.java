package dev.kbx.analysis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.groups.Tuple.tuple;

import dev.kbx.verdict.Spent;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Offset;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TrajectoryRatesTest {
  private static final Offset<Double> EXACT = within(1e-12);

  private static TrajectoryRow row(
      String method, String task, int sample, @Nullable Boolean development, Boolean correct) {
    Spent spent =
        new Spent.Amounts().calls(2).requests(2).tokens(10).usd(0.5).deviceSeconds(1).spent();
    return new TrajectoryRow(
        method, "m", task, sample, true, development, correct, List.of(), spent, spent);
  }

  @Test
  void developmentAndFinalRatesHaveAGap() {
    TrajectoryRates rates =
        TrajectoryRates.of(
                List.of(
                    row("refine", "A/a", 0, true, true),
                    row("refine", "A/b", 0, true, false),
                    row("refine", "A/c", 0, false, false),
                    row("refine", "A/d", 0, null, true)))
            .getFirst();
    TaskShare development = requireNonNull(rates.development());
    assertThat(development.passes() + "/" + development.total()).isEqualTo("2/3");
    TaskShare last = requireNonNull(rates.finalRate());
    assertThat(last.value()).isEqualTo(0.5);
    assertThat(last.low()).as("Wilson").isCloseTo(0.1500, within(1e-4));
    assertThat(requireNonNull(rates.gap()).value()).as("of three").isCloseTo(1 / 3.0, EXACT);
    assertThat(rates.gap().low()).isEqualTo(0);
    assertThat(rates.gap().high()).isEqualTo(1);
    assertThat(rates.solved()).isEqualTo(2);
    assertThat(rates.pass().passAtK()).isNull();
    assertThat(rates.spent())
        .isEqualTo(
            new Spent.Amounts().calls(8).requests(8).tokens(40).usd(2).deviceSeconds(4).spent());
  }

  @Test
  void samplesOfATaskCountTogether() {
    List<TrajectoryRow> rows = new ArrayList<>();
    boolean[][] correct = {
      {true, false, false, false}, {true, true, true, true}, {false, false, false, false}
    };
    for (int task = 0; task < 3; task++) {
      for (int sample = 0; sample < 4; sample++) {
        rows.add(row("sample", "A/" + task, sample, null, correct[task][sample]));
      }
    }
    TrajectoryRates rates = TrajectoryRates.of(rows).getFirst();
    TaskShare last = requireNonNull(rates.finalRate());
    assertThat(last.value()).isCloseTo(5 / 12.0, EXACT);
    assertThat(last.low()).as("a bootstrap over three tasks").isEqualTo(0);
    assertThat(rates.pass().k()).isEqualTo(4);
    assertThat(requireNonNull(rates.pass().passAtK()).value()).isCloseTo(2 / 3.0, EXACT);
    assertThat(requireNonNull(rates.pass().allPass()).value()).isCloseTo(1 / 3.0, EXACT);
    assertThat(rates.development()).isNull();
    assertThat(rates.gap()).isNull();
  }

  /** One sample that kbx could not judge made pass@4 of all tasks pass@3. */
  @Test
  void kIsNotMadeSmallerForATaskWithFewerSamples() {
    List<TrajectoryRow> rows = new ArrayList<>();
    for (int task = 0; task < 3; task++) {
      for (int sample = 0; sample < (task == 2 ? 1 : 4); sample++) {
        rows.add(row("sample", "A/" + task, sample, null, task != 1));
      }
    }
    TrajectoryRates rates = TrajectoryRates.of(rows).getFirst();
    assertThat(rates.pass().k()).isEqualTo(4);
    assertThat(rates.pass().passTasks()).isEqualTo(2);
    assertThat(requireNonNull(rates.pass().passAtK()).value()).isCloseTo(0.5, EXACT);
  }

  @Test
  void methodsAndModelsAreNotMixed() {
    assertThat(
            TrajectoryRates.of(
                List.of(
                    row("b", "A/a", 0, true, true),
                    row("a", "A/a", 0, true, false),
                    row("b", "A/b", 0, true, true))))
        .extracting(TrajectoryRates::method, TrajectoryRates::tasks)
        .containsExactly(tuple("b", 2), tuple("a", 1));
  }

  @Test
  void ratesNeedAFinalJudgement() {
    Spent spent = Spent.NOTHING;
    TrajectoryRates rates =
        TrajectoryRates.of(
                List.of(
                    new TrajectoryRow(
                        "m", "m", "A/a", 0, false, null, null, List.of(), spent, null)))
            .getFirst();
    assertThat(rates.finalRate()).isNull();
    assertThat(rates.solved()).isNull();
    assertThat(rates.withCode()).isZero();
  }
}
