package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** Answers of R 4.2.2: {@code p.adjust(p, "holm")}. */
class HolmTest {
  @Test
  void agreesWithR() {
    double[] adjusted = Holm.adjust(new double[] {0.01, 0.04, 0.03, 0.005, 0.8});
    double[] expected = {0.04, 0.09, 0.09, 0.025, 0.8};
    assertThat(adjusted).containsExactly(expected, within(1e-12));
    assertThat(Holm.adjust(new double[] {0.6, 0.7})).containsExactly(1, 1);
    assertThat(Holm.adjust(new double[0])).isEmpty();
  }
}
