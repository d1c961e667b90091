package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ExceedanceTest {
  @Test
  void valuesEqualToTheThresholdDoNotCount() {
    var speedups = new Exceedance(new double[] {1.5, 0.7, 1, 2.5}, 8);
    assertThat(speedups.above(0)).isEqualTo(new Rate(4, 8));
    assertThat(speedups.above(0.7)).isEqualTo(new Rate(3, 8));
    assertThat(speedups.above(1)).as("1× is not faster").isEqualTo(new Rate(2, 8));
    assertThat(speedups.above(2.5)).isEqualTo(new Rate(0, 8));
  }

  @Test
  void stepsAreAtChangesOfTheShare() {
    assertThat(new Exceedance(new double[] {2, 0.5, 2}, 3).steps()).containsExactly(0, 0.5, 2);
    assertThat(new Exceedance(new double[0], 3).steps()).containsExactly(0);
  }

  /** Between two steps nothing changes, and each step is a fall. */
  @Test
  void shareFallsMonotonically() {
    var random = new Random(20_261_122);
    for (int i = 0; i < 200; i++) {
      double[] values = random.doubles(random.nextInt(12), 0.1, 3).toArray();
      Arrays.setAll(values, j -> Math.ceil(values[j] * 5) / 5);
      var speedups = new Exceedance(values, values.length + 1 + random.nextInt(5));
      double[] steps = speedups.steps();
      for (int j = 1; j < steps.length; j++) {
        long before = speedups.above(steps[j - 1]).passes();
        assertThat(speedups.above(Math.nextDown(steps[j])).passes()).isEqualTo(before);
        assertThat(speedups.above(steps[j]).passes()).isLessThan(before);
      }
      assertThat(speedups.above(steps[steps.length - 1]).passes()).isZero();
    }
  }

  @Test
  void moreValuesThanCasesAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new Exceedance(new double[] {1, 2}, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new Exceedance(new double[0], 0));
    assertThatIllegalArgumentException().isThrownBy(() -> new Exceedance(new double[] {0}, 1));
  }
}
