package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Exact probabilities of small designs, by counting labellings. */
class PermutationTestTest {
  @Test
  void dealsLabelsToUnits() {
    // Of the 70 ways to label four of eight units, two separate those that pass from the others.
    int[] levels = {0, 0, 0, 0, 1, 1, 1, 1};
    double[] passes = {1, 1, 1, 1, 0, 0, 0, 0};
    double[] trials = new double[8];
    Arrays.fill(trials, 1);
    PermutationTest test = PermutationTest.betweenUnits(levels, 2, passes, trials, 20_000);
    assertThat(test.pValue()).isCloseTo(2.0 / 70, within(0.004));
    assertThat(test.permutations()).isEqualTo(20_000);
    // Splits of 4:0, 3:1, 2:2 occur 2, 32 and 36 times.
    double whole = BinomialDeviance.of(4, 8);
    double expected = (2 * whole + 32 * (whole - 2 * BinomialDeviance.of(1, 4))) / 70;
    assertThat(test.expected()).isCloseTo(expected, within(0.05));
  }

  @Test
  void dealsPassesWithinUnits() {
    // In each of five units one of two rows passes, always the first label's: 2 of 32 labellings.
    int[][] levels = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}};
    int[] passing = {1, 1, 1, 1, 1};
    PermutationTest test = PermutationTest.withinUnits(levels, passing, 2, 20_000);
    assertThat(test.pValue()).isCloseTo(2.0 / 32, within(0.006));
    int[] all = {2, 0, 2, 0, 2};
    assertThat(PermutationTest.withinUnits(levels, all, 2, 100).pValue()).isEqualTo(1);
  }
}
