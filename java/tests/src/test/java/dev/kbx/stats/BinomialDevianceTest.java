package dev.kbx.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * The published counts of correct kernels by method, 176 tasks each, with the answers of R 4.2.2:
 * {@code glm(y~factor(method), binomial)} on rows of 0 and 1. That a fifth method without any
 * success entered the published figure of 12.1 % is inferred from the figure.
 */
class BinomialDevianceTest {
  private static double[] tasks(int methods) {
    double[] tasks = new double[methods];
    Arrays.fill(tasks, 176);
    return tasks;
  }

  @Test
  void fourMethodsExplainOneThirtieth() {
    double[] right = {30, 54, 19, 40};
    double all = BinomialDeviance.ofAll(right, tasks(4));
    double explained = all - BinomialDeviance.ofGroups(right, tasks(4));
    assertThat(all).isCloseTo(710.62350522, within(1e-7));
    assertThat(explained).isCloseTo(23.7607779254, within(1e-7));
    assertThat(explained / all).isCloseTo(0.0334, within(5e-5));
  }

  @Test
  void fifthMethodWithoutSolvedTasksRaisesTheShareToOneEighth() {
    double[] right = {30, 54, 19, 40, 0};
    double all = BinomialDeviance.ofAll(right, tasks(5));
    double explained = all - BinomialDeviance.ofGroups(right, tasks(5));
    assertThat(all).isCloseTo(781.07443981, within(1e-7));
    assertThat(explained).isCloseTo(94.2117, within(5e-5));
    assertThat(explained / all).isCloseTo(0.121, within(5e-4));
  }
}
