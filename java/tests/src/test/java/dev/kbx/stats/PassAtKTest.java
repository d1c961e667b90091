package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PassAtKTest {
  /** By hand: 1 − C(n − c, k) ÷ C(n, k). */
  @ParameterizedTest
  @CsvSource({
    "10, 3,  1, 0.3",
    "10, 3,  5, 0.916666666667", // 1 − C(7, 5) ÷ C(10, 5) = 1 − 21 ÷ 252
    "10, 3, 10, 1",
    " 5, 1,  2, 0.4", // 1 − C(4, 2) ÷ C(5, 2) = 1 − 6 ÷ 10
    " 4, 0,  4, 0",
    " 4, 4,  1, 1",
    " 1, 0,  1, 0",
  })
  void knownValues(int samples, int passes, int k, double expected) {
    assertThat(new PassAtK(samples, passes).of(k)).isCloseTo(expected, within(1e-12));
  }

  @Test
  void equalsTheShareOfSubsetsWithAPass() {
    for (int samples = 1; samples <= 9; samples++) {
      for (int passes = 0; passes <= samples; passes++) {
        for (int k = 1; k <= samples; k++) {
          assertThat(new PassAtK(samples, passes).of(k))
              .as("n=%d c=%d k=%d", samples, passes, k)
              .isCloseTo(enumerated(samples, passes, k), within(1e-12));
        }
      }
    }
  }

  /** By hand: C(c, k) ÷ C(n, k). */
  @ParameterizedTest
  @CsvSource({
    "10, 3,  1, 0.3",
    "10, 3,  2, 0.066666666667", // 3 ÷ 45
    "10, 3,  3, 0.008333333333", // 1 ÷ 120
    "10, 3,  4, 0",
    " 5, 4,  2, 0.6", // 6 ÷ 10
    " 4, 0,  1, 0",
    " 4, 4,  4, 1",
  })
  void knownValuesOfAll(int samples, int passes, int k, double expected) {
    assertThat(new PassAtK(samples, passes).ofAll(k)).isCloseTo(expected, within(1e-12));
  }

  /** That all pass is that none of them fails. */
  @Test
  void allPassIfNoneFails() {
    for (int passes = 0; passes <= 30; passes++) {
      for (int k = 1; k <= 30; k++) {
        assertThat(new PassAtK(30, passes).ofAll(k))
            .isCloseTo(1 - new PassAtK(30, 30 - passes).of(k), within(1e-12));
      }
    }
    assertThat(PassAtK.taskMeanOfAll(List.of(new PassAtK(4, 4), new PassAtK(4, 2)), 2).value())
        .isCloseTo((1 + 1 / 6.0) / 2, within(1e-12));
  }

  /** Looks at every subset of k samples, of which the first {@code passes} pass. */
  private static double enumerated(int samples, int passes, int k) {
    int subsets = 0;
    int passing = 0;
    for (int subset = 0; subset < 1 << samples; subset++) {
      if (Integer.bitCount(subset) != k) continue;
      subsets++;
      if ((subset & ((1 << passes) - 1)) != 0) passing++;
    }
    return (double) passing / subsets;
  }

  /** Exactly, not up to rounding: a table that says otherwise even once is not believed again. */
  @Test
  void moreSamplesNeverGiveLessOnTheSameTasks() {
    var random = new Random(20_261_122);
    for (int i = 0; i < 300; i++) {
      List<PassAtK> tasks = new ArrayList<>();
      int least = 1 + random.nextInt(100);
      for (int task = 0; task < 40; task++) {
        int samples = least + random.nextInt(100);
        tasks.add(new PassAtK(samples, random.nextInt(samples + 1) / (1 + random.nextInt(9))));
      }
      for (int k = 2; k <= least; k++) {
        assertThat(PassAtK.mean(tasks, k)).isGreaterThanOrEqualTo(PassAtK.mean(tasks, k - 1));
      }
    }
  }

  @Test
  void manySamplesDoNotOverflow() {
    assertThat(new PassAtK(100_000, 1).of(50_000)).isCloseTo(0.5, within(1e-9));
    assertThat(new PassAtK(100_000, 50_000).of(1_000)).isEqualTo(1);
  }

  @Test
  void intervalIsOverTasksAndReproducible() {
    List<PassAtK> tasks = new ArrayList<>();
    for (int i = 0; i < 20; i++) tasks.add(new PassAtK(4, i % 5));
    TaskMean interval = PassAtK.taskMean(tasks, 1);
    assertThat(interval).isEqualTo(PassAtK.taskMean(tasks, 1));
    double halfWidth = 1.96 * Math.sqrt(0.125 / 20); // the variance of 0, ¼, ½, ¾, 1 is ⅛
    assertThat(interval.low()).isCloseTo(0.5 - halfWidth, within(0.02));
    assertThat(interval.high()).isCloseTo(0.5 + halfWidth, within(0.02));
  }

  @Test
  void kOutOfRangeIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new PassAtK(4, 2).of(5));
    assertThatIllegalArgumentException().isThrownBy(() -> new PassAtK(4, 2).of(0));
    assertThatIllegalArgumentException().isThrownBy(() -> new PassAtK(4, 2).ofAll(5));
    assertThatIllegalArgumentException().isThrownBy(() -> new PassAtK(4, 5));
    assertThatIllegalArgumentException().isThrownBy(() -> PassAtK.mean(List.of(), 1));
  }
}
