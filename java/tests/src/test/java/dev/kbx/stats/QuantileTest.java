package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuantileTest {
  /** {@code quantile(c(3, 1, 4, 1, 5, 9, 2, 6), p)} in R, whose default is definition 7. */
  @ParameterizedTest
  @CsvSource({"0, 1", "0.1, 1", "0.25, 1.75", "0.5, 3.5", "0.9, 6.9", "0.95, 7.95", "1, 9"})
  void quantilesAreThoseOfDefinitionSeven(double part, double expected) {
    double[] values = {3, 1, 4, 1, 5, 9, 2, 6};
    assertThat(Quantile.of(values, part)).isCloseTo(expected, within(1e-12));
    assertThat(values).containsExactly(3, 1, 4, 1, 5, 9, 2, 6);
  }

  @Test
  void oneValueIsEveryQuantile() {
    assertThat(Quantile.of(new double[] {7}, 0.3)).isEqualTo(7);
    assertThatIllegalArgumentException().isThrownBy(() -> Quantile.of(new double[0], 0.5));
    assertThatIllegalArgumentException().isThrownBy(() -> Quantile.of(new double[] {7}, 1.1));
  }
}
