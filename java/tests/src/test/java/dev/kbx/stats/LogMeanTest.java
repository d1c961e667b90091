package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class LogMeanTest {
  /** Half the difference of two samples' means, one negated: Student's pooled t for equal sizes. */
  @Test
  void crossoverEqualsThePooledInterval() {
    double[] one = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
    double[] other = {-1.9, -0.8, -1.1, -0.1, 0.1, -4.4, -5.5, -1.6, -4.6, -3.4};
    LogMean mean = LogMean.ofCrossover(one, other);
    Ratio ratio = Ratio.of(mean, 0.95);
    assertThat(mean.degrees()).isEqualTo(18);
    // t.test(extra ~ group, data = sleep, var.equal = TRUE) gives (-3.363874, 0.203874).
    assertThat(Math.log(ratio.low())).isCloseTo(-3.363874 / 2, within(1e-6));
    assertThat(Math.log(ratio.high())).isCloseTo(0.203874 / 2, within(1e-6));
  }

  @Test
  void orderEffectCancels() {
    LogMean with = LogMean.ofCrossover(new double[] {0.11, 0.09}, new double[] {-0.09, -0.11});
    LogMean without = LogMean.ofCrossover(new double[] {0.01, -0.01}, new double[] {0.01, -0.01});
    assertThat(with.mean()).isCloseTo(without.mean(), within(1e-12));
    assertThat(with.variance()).isCloseTo(without.variance(), within(1e-12));
  }

  @Test
  void clockResolutionWidensTheInterval() {
    LogMean exact = LogMean.of(new double[] {0.5, 0.5, 0.5});
    Ratio ratio = Ratio.of(exact.withResolution(0.01), 0.95);
    assertThat(Math.log(ratio.low())).isCloseTo(0.49, within(1e-12));
    assertThat(Math.log(ratio.high())).isCloseTo(0.51, within(1e-12));
  }

  @Test
  void knownScatterAddsToTheVariance() {
    LogMean rounds = LogMean.of(new double[] {0.1, 0.2, 0.3, 0.2});
    double own = rounds.variance();
    LogMean wider = rounds.withScatter(Math.sqrt(own));
    assertThat(wider.variance()).isCloseTo(2 * own, within(1e-12));
    // Satterthwaite: (2 v)² / (v² / 3).
    assertThat(wider.degrees()).isCloseTo(12, within(1e-9));
    assertThat(rounds.withScatter(0).degrees()).isCloseTo(3, within(1e-9));
    Ratio exact = Ratio.of(LogMean.of(new double[] {0.5, 0.5}).withScatter(0.01), 0.95);
    assertThat(Math.log(exact.high())).isCloseTo(0.5 + 0.01 * 1.959964, within(1e-6));
  }

  @Test
  void tooFewRoundsHaveNoInterval() {
    assertThatIllegalArgumentException().isThrownBy(() -> LogMean.of(new double[] {0.1}));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LogMean.ofCrossover(new double[] {0.1}, new double[] {0.1}));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LogMean.ofCrossover(new double[] {0.1, 0.2, 0.3}, new double[0]));
  }

  @Test
  void outliersAreFarFromTheMiddle() {
    double[] values = {1, 1.1, 0.9, 1.05, 3, 0.95};
    assertThat(Outliers.in(values, 8, 0)).containsExactly(false, false, false, false, true, false);
    assertThat(Outliers.in(values, 8, 5)).doesNotContain(true);
    assertThat(Outliers.in(new double[] {2, 2, 2, 2.1}, 8, 0.2)).doesNotContain(true);
  }
}
