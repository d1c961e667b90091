package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class RatioTest {
  private static final Offset<Double> CLOSE = within(1e-6);

  /** Student's sleep data (1908): hours gained with each of two drugs, ten patients. */
  private static final double[] FIRST = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};

  private static final double[] SECOND = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

  @Test
  void roundsGiveStudentsInterval() {
    double[] gains = new double[FIRST.length];
    Arrays.setAll(gains, i -> SECOND[i] - FIRST[i]);
    var ratio = Ratio.of(LogMean.of(gains), 0.95);
    assertThat(Math.log(ratio.value())).isCloseTo(1.58, CLOSE);
    assertThat(Math.log(ratio.low())).isCloseTo(0.7001142, CLOSE);
    assertThat(Math.log(ratio.high())).isCloseTo(2.4598858, CLOSE);
  }

  /** Half of Welch's interval of the same data's difference of means, (-3.3654832, 0.2054832). */
  @Test
  void sizesGiveWelchsInterval() {
    double[] negated = Arrays.stream(SECOND).map(v -> -v).toArray();
    var ratio = Ratio.ofSizes(List.of(LogMean.of(FIRST), LogMean.of(negated)), 0.95);
    assertThat(Math.log(ratio.value())).isCloseTo((0.75 - 2.33) / 2, CLOSE);
    assertThat(Math.log(ratio.low())).isCloseTo(-3.3654832 / 2, CLOSE);
    assertThat(Math.log(ratio.high())).isCloseTo(0.2054832 / 2, CLOSE);
  }

  /** Amdahl: of 100 ms, 30 become 15 and 70 become 7; the total is 22. */
  @Test
  void weightedSizesGiveTheSpeedupOfTheTotal() {
    var twice = new LogMean(Math.log(2), 0, 5, 0);
    var tenTimes = new LogMean(Math.log(10), 0, 5, 0);
    var ratio = Ratio.ofTotal(List.of(twice, tenTimes), List.of(0.3, 0.7), 0.95);
    assertThat(ratio.value()).isCloseTo(100.0 / 22, CLOSE);
    assertThat(ratio.low()).isEqualTo(ratio.value()).isEqualTo(ratio.high());
    var total = Ratio.total(List.of(new Ratio(2, 2, 2), new Ratio(10, 10, 10)), List.of(0.3, 0.7));
    assertThat(total.value()).isCloseTo(100.0 / 22, CLOSE);
  }

  /** Student's interval of the one size that is not certain, times its part of the 22 ms. */
  @Test
  void theIntervalOfATotalCountsTheTimeOfEachSize() {
    double[] gains = new double[FIRST.length];
    Arrays.setAll(gains, i -> SECOND[i] - FIRST[i] - 1.58 + Math.log(2));
    var tenTimes = new LogMean(Math.log(10), 0, 5, 0.01);
    var ratio = Ratio.ofTotal(List.of(LogMean.of(gains), tenTimes), List.of(0.3, 0.7), 0.95);
    double half = 0.8798858 * 15 / 22 + 0.01 * 7 / 22;
    assertThat(Math.log(ratio.value() / ratio.low())).isCloseTo(half, CLOSE);
    assertThat(Math.log(ratio.high() / ratio.value())).isCloseTo(half, CLOSE);
    var independent = List.of(new Ratio(2, 2 * Math.exp(-0.22), 2), new Ratio(10, 10, 10));
    var total = Ratio.total(independent, List.of(0.3, 0.7));
    assertThat(Math.log(total.value() / total.low())).isCloseTo(0.15, CLOSE);
    assertThat(total.high()).isEqualTo(total.value());
  }

  /** Welch's interval again: sizes of one speedup and equal shares weigh alike in both means. */
  @Test
  void equalSizesHaveTheSameIntervalInBothMeans() {
    double[] other = Arrays.stream(FIRST).map(v -> 1.5 - v).toArray();
    var sizes = List.of(LogMean.of(FIRST), LogMean.of(other));
    var mean = Ratio.ofSizes(sizes, 0.95);
    var total = Ratio.ofTotal(sizes, List.of(0.5, 0.5), 0.95);
    assertThat(total.value()).isCloseTo(mean.value(), CLOSE);
    assertThat(total.low()).isCloseTo(mean.low(), CLOSE);
    assertThat(total.high()).isCloseTo(mean.high(), CLOSE);
  }

  @Test
  void theIntervalOfATotalHoldsWhatItSays() {
    var random = new SplittableRandom(11);
    double[] truth = {0.8, 1.3, 2, 6};
    List<Double> shares = List.of(0.1, 0.2, 0.4, 0.3);
    double total = 1 / (0.1 / 0.8 + 0.2 / 1.3 + 0.4 / 2 + 0.3 / 6);
    int held = 0;
    for (int run = 0; run < 2_000; run++) {
      List<LogMean> sizes = new ArrayList<>();
      for (double speedup : truth) {
        double[] rounds = new double[6];
        Arrays.setAll(rounds, _ -> Math.log(speedup) + 0.03 * random.nextGaussian());
        sizes.add(LogMean.of(rounds));
      }
      if (Ratio.ofTotal(sizes, shares, 0.95).covers(total)) held++;
    }
    assertThat(held / 2_000.0).isBetween(0.935, 0.965);
  }

  @Test
  void eachSizeHasAShare() {
    var one = List.of(LogMean.of(FIRST));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Ratio.ofTotal(one, List.of(0.5, 0.5), 0.95))
        .withMessage("1 sizes have 2 shares");
  }

  @Test
  void invertingTheRatioInvertsItsInterval() {
    var ratio = Ratio.of(LogMean.of(FIRST), 0.95);
    var inverse = Ratio.of(LogMean.of(Arrays.stream(FIRST).map(v -> -v).toArray()), 0.95);
    assertThat(inverse.low()).isCloseTo(1 / ratio.high(), CLOSE);
    assertThat(inverse.value()).isCloseTo(1 / ratio.value(), CLOSE);
  }

  @Test
  void equalRoundsHaveAZeroWidthInterval() {
    var ratio = Ratio.of(LogMean.of(new double[] {Math.log(2), Math.log(2), Math.log(2)}), 0.95);
    assertThat(ratio.low()).isCloseTo(2, CLOSE).isEqualTo(ratio.high());
  }

  /** Distances of 0.03 and 0.04, as logarithms, make one of 0.05. */
  @Test
  void quotientOfRatiosCombinesTheirVariances() {
    var speedup = new Ratio(2, 2 * Math.exp(-0.03), 2 * Math.exp(0.04));
    var baseline = new Ratio(1.25, 1.25 * Math.exp(-0.03), 1.25 * Math.exp(0.04));
    var over = speedup.over(baseline);
    assertThat(over.value()).isCloseTo(1.6, CLOSE);
    assertThat(Math.log(over.value() / over.low())).isCloseTo(0.05, CLOSE);
    assertThat(Math.log(over.high() / over.value())).isCloseTo(0.05, CLOSE);
  }

  @Test
  void divisionByAnExactRatioKeepsTheWidth() {
    var ratio = Ratio.of(LogMean.of(new double[] {0.1, 0.2, 0.4}), 0.95);
    var over = ratio.over(new Ratio(2, 2, 2));
    assertThat(over.low()).isCloseTo(ratio.low() / 2, CLOSE);
    assertThat(over.high()).isCloseTo(ratio.high() / 2, CLOSE);
  }

  @Test
  void meanOfRatiosIsNarrowerThanEach() {
    var wide = new Ratio(2, 2 * Math.exp(-0.03), 2 * Math.exp(0.06));
    var wider = new Ratio(8, 8 * Math.exp(-0.04), 8 * Math.exp(0.08));
    var mean = Ratio.mean(List.of(wide, wider));
    assertThat(mean.value()).isCloseTo(4, CLOSE);
    assertThat(Math.log(mean.value() / mean.low())).isCloseTo(0.05 / 2, CLOSE);
    assertThat(Math.log(mean.high() / mean.value())).isCloseTo(0.10 / 2, CLOSE);
    assertThatIllegalArgumentException().isThrownBy(() -> Ratio.mean(List.of()));
  }

  /** Of rounds that vary alike, it is nearly what Welch's interval is, and never narrower. */
  @Test
  void meanOfIntervalsIsNearTheIntervalOfAllRounds() {
    double[] other = Arrays.stream(FIRST).map(v -> 3 - v).toArray();
    var rounds = Ratio.ofSizes(List.of(LogMean.of(FIRST), LogMean.of(other)), 0.95);
    var mean =
        Ratio.mean(List.of(Ratio.of(LogMean.of(FIRST), 0.95), Ratio.of(LogMean.of(other), 0.95)));
    double width = Math.log(mean.high() / mean.low()) / Math.log(rounds.high() / rounds.low());
    assertThat(mean.value()).isCloseTo(rounds.value(), CLOSE);
    assertThat(width).isBetween(1.0, 1.1);
  }

  @Test
  void ratioOfNoSizesIsAbsent() {
    assertThatIllegalArgumentException().isThrownBy(() -> Ratio.ofSizes(List.of(), 0.95));
  }

  @Test
  void twiceAndHalfAverageToOne() {
    assertThat(Ratio.geometricMean(new double[] {2, 0.5})).isCloseTo(1, CLOSE);
    assertThatIllegalArgumentException().isThrownBy(() -> Ratio.geometricMean(new double[] {2, 0}));
  }

  /** For a large sample the bootstrap agrees with the t interval, and it repeats itself. */
  @Test
  void tasksGiveTheBootstrapInterval() {
    var random = new SplittableRandom(7);
    double[] logs = random.doubles(400, -1, 1).toArray();
    double[] speedups = Arrays.stream(logs).map(Math::exp).toArray();
    var byTasks = Ratio.ofTasks(speedups);
    var byTheory = Ratio.of(LogMean.of(logs), 0.95);
    assertThat(byTasks.value()).isCloseTo(byTheory.value(), CLOSE);
    assertThat(byTasks.low()).isCloseTo(byTheory.low(), within(0.01));
    assertThat(byTasks.high()).isCloseTo(byTheory.high(), within(0.01));
    assertThat(Ratio.ofTasks(speedups)).isEqualTo(byTasks);
  }

  @Test
  void quotientIntervalCombinesBothIntervals() {
    Ratio one = new Ratio(2, 2 / Math.exp(0.03), 2 * Math.exp(0.03));
    Ratio other = new Ratio(4, 4 / Math.exp(0.04), 4 * Math.exp(0.04));
    Ratio quotient = one.over(other);
    assertThat(quotient.value()).isCloseTo(0.5, CLOSE);
    assertThat(quotient.low()).isCloseTo(0.5 / Math.exp(0.05), CLOSE);
    assertThat(quotient.high()).isCloseTo(0.5 * Math.exp(0.05), CLOSE);
    assertThat(quotient.covers(0.5)).isTrue();
    assertThat(quotient.covers(0.53)).isFalse();
  }

  @Test
  void medianIsTheMiddleRatio() {
    double[] values = {9, 1, 5};
    assertThat(Median.of(values)).isEqualTo(5);
    assertThat(values).containsExactly(9, 1, 5);
    assertThat(Median.of(new double[] {4, 1, 2, 3})).isEqualTo(2.5);
    assertThatIllegalArgumentException().isThrownBy(() -> Median.of(new double[0]));
  }
}
