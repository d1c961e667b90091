package dev.kbx.stats;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PairedSharesTest {
  /**
   * Darwin's maize, in eighths of an inch: of 32768 arrangements 863 have so large a sum, 1726 in
   * both directions (R. A. Fisher, "The Design of Experiments" (1935), section 21).
   */
  @Test
  void agreesWithFishersExample() {
    var test = PairedShares.exact(49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48);
    assertThat(test.pValue()).isCloseTo(1726 / 32768.0, within(1e-12));
    assertThat(test.error()).isNull();
  }

  private static PairedShares.Task once(boolean first, boolean second) {
    return new PairedShares.Task(first ? 1 : 0, 1, second ? 1 : 0, 1);
  }

  @Test
  void withOneSampleATaskItIsMcNemars() {
    for (int first = 0; first <= 12; first++) {
      for (int second = 0; second <= 12; second++) {
        List<PairedShares.Task> tasks = new ArrayList<>();
        for (int i = 0; i < first; i++) tasks.add(once(true, false));
        for (int i = 0; i < second; i++) tasks.add(once(false, true));
        for (int i = 0; i < 5; i++) tasks.add(once(true, true));
        assertThat(PairedShares.of(tasks).pValue())
            .as("%d, %d", first, second)
            .isCloseTo(new McNemar(first, second).pValue(), within(1e-12));
      }
    }
  }

  /** All signs of the differences, one by one. */
  private static double byEnumeration(List<PairedShares.Task> tasks) {
    double[] differences = tasks.stream().mapToDouble(PairedShares.Task::difference).toArray();
    double observed =
        Math.abs(IntStream.range(0, tasks.size()).mapToDouble(i -> differences[i]).sum());
    int asFar = 0;
    for (int signs = 0; signs < 1 << differences.length; signs++) {
      double sum = 0;
      for (int i = 0; i < differences.length; i++) {
        sum += (signs >> i & 1) == 0 ? differences[i] : -differences[i];
      }
      if (Math.abs(sum) > observed - 1e-9) asFar++;
    }
    return (double) asFar / (1 << differences.length);
  }

  private static List<PairedShares.Task> random(int tasks, int mostSamples, long seed) {
    var random = new SplittableRandom(seed);
    List<PairedShares.Task> all = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      int first = random.nextInt(1, mostSamples + 1);
      int second = random.nextInt(1, mostSamples + 1);
      all.add(
          new PairedShares.Task(
              random.nextInt(first + 1), first, random.nextInt(second + 1), second));
    }
    return all;
  }

  @Test
  void differentNumbersOfSamplesAreExact() {
    for (int seed = 0; seed < 20; seed++) {
      List<PairedShares.Task> tasks = random(10, 5, seed);
      PairedShares test = PairedShares.of(tasks);
      assertThat(test.pValue()).as("seed %d", seed).isCloseTo(byEnumeration(tasks), within(1e-9));
      assertThat(test.error()).isNull();
    }
  }

  /** The common denominator of up to 40 samples has 17 digits. */
  @Test
  void uncountableSumsAreDrawnWithTheirError() {
    List<PairedShares.Task> tasks = random(16, 40, 3);
    PairedShares test = PairedShares.of(tasks);
    double error = requireNonNull(test.error());
    assertThat(error).isLessThan(0.002);
    assertThat(test.pValue()).isCloseTo(byEnumeration(tasks), within(4 * error));
  }

  /** The common denominator of 60 numbers of samples has 26 digits, that of the differences one. */
  @Test
  void sharesOfAllAndNothingAreExactHoweverManySamples() {
    List<PairedShares.Task> tasks =
        IntStream.rangeClosed(1, 60)
            .mapToObj(samples -> new PairedShares.Task(0, samples, samples, samples))
            .toList();
    PairedShares test = PairedShares.of(tasks);
    assertThat(test.pValue()).isCloseTo(Math.pow(2, -59), within(1e-30));
    assertThat(test.error()).isNull();
  }

  @Test
  void nothingDiffersWithoutADifference() {
    assertThat(PairedShares.of(List.of()).pValue()).isEqualTo(1);
    assertThat(PairedShares.of(List.of(once(true, true), once(false, false))).pValue())
        .isEqualTo(1);
    assertThatIllegalArgumentException().isThrownBy(() -> new PairedShares.Task(2, 1, 0, 1));
  }
}
