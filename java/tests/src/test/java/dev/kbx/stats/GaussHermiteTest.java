package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions" (1964), table 25.10. */
class GaussHermiteTest {
  @Test
  void hasTheTabulatedNodesAndWeights() {
    GaussHermite rule = GaussHermite.of(5);
    double[] nodes = {-2.020182870456, -0.958572464614, 0, 0.958572464614, 2.020182870456};
    double[] weights = {
      1.995324205905e-2, 0.3936193231522, 0.9453087204829, 0.3936193231522, 1.995324205905e-2
    };
    assertThat(rule.nodes()).containsExactly(nodes, within(1e-11));
    assertThat(rule.weights()).containsExactly(weights, within(1e-12));
    assertThat(GaussHermite.of(1).weights()).containsExactly(Math.sqrt(Math.PI));
  }
}
