package dev.kbx.stats;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Whether two methods pass different shares of the samples of the same tasks: the permutation test
 * on the differences of paired values (R. A. Fisher, "The Design of Experiments" (1935), section
 * 21). If the two are equal, either could have had each task's larger share, so that all signs of
 * the differences are equally likely; p is the part of them whose sum is as far from 0 as the
 * observed one, two-sided. However many samples a task has, it counts once. With one sample a task
 * this is {@link McNemar}'s exact test.
 *
 * <p>The distribution is exact, by counting sums of the differences' numerators over their common
 * denominator. Where these are too many (tasks with many different numbers of samples), p is of
 * {@link #DRAWN} random signs, the observed ones included: B. Phipson and G. K. Smyth, "Permutation
 * p-values should never be zero", SAGMB 9 (2010) 39.
 *
 * @param pValue between 0 and 1; 1 if no task differs
 * @param error standard error of a p of random signs; null if p is exact
 */
public record PairedShares(double pValue, @Nullable Double error) {
  /** Random signs where the exact distribution is too large. */
  static final int DRAWN = 99_999;

  /** Sums that are counted at most, in a table of 32 MB. */
  private static final long MOST_SUMS = 1L << 22;

  /** Additions of the exact distribution at most: half a second, beyond which drawing is faster. */
  private static final double MOST_ADDITIONS = 5e8;

  /** Sums that differ by less are equal. */
  private static final double EQUAL = 1e-9;

  /** Passes of the samples of one task, of which each of the two has at least one. */
  public record Task(int firstPasses, int firstSamples, int secondPasses, int secondSamples) {
    public Task {
      if (!isShare(firstPasses, firstSamples) || !isShare(secondPasses, secondSamples)) {
        throw new IllegalArgumentException(
            "not shares: %d of %d, %d of %d"
                .formatted(firstPasses, firstSamples, secondPasses, secondSamples));
      }
    }

    private static boolean isShare(int passes, int samples) {
      return samples >= 1 && passes >= 0 && passes <= samples;
    }

    /** The second's share less the first's. */
    public double difference() {
      return (double) secondPasses / secondSamples - (double) firstPasses / firstSamples;
    }

    /** Numerator and denominator of the difference, in lowest terms. */
    private Fraction fraction() {
      long numerator = (long) secondPasses * firstSamples - (long) firstPasses * secondSamples;
      long denominator = (long) firstSamples * secondSamples;
      long common = gcd(numerator, denominator);
      return new Fraction(numerator / common, denominator / common);
    }
  }

  private record Fraction(long numerator, long denominator) {}

  /** The test over tasks. */
  public static PairedShares of(List<Task> tasks) {
    int[] differences = scaled(tasks.stream().map(Task::fraction).toList());
    return differences == null
        ? drawn(tasks.stream().mapToDouble(Task::difference).filter(d -> d != 0).toArray())
        : exact(differences);
  }

  /** The differences but 0 in their largest common unit; null if their sums are too many. */
  private static int @Nullable [] scaled(List<Fraction> all) {
    List<Fraction> differences = all.stream().filter(each -> each.numerator() != 0).toList();
    int[] scaled = new int[differences.size()];
    try {
      long denominator = 1;
      long unit = 0;
      for (Fraction each : differences) {
        long factor = each.denominator() / gcd(denominator, each.denominator());
        denominator = Math.multiplyExact(denominator, factor);
        unit = gcd(unit, each.numerator());
      }
      long sums = 0;
      for (int i = 0; i < scaled.length; i++) {
        Fraction each = differences.get(i);
        long one = Math.multiplyExact(each.numerator() / unit, denominator / each.denominator());
        sums = Math.addExact(sums, Math.absExact(one));
        if (sums > MOST_SUMS) return null;
        scaled[i] = (int) one;
      }
      return (double) sums * scaled.length <= MOST_ADDITIONS ? scaled : null;
    } catch (ArithmeticException _) {
      // A denominator beyond 2^63 is that of sums beyond all counting: the fractions have lowest
      // terms.
      return null;
    }
  }

  /**
   * The exact test on paired differences.
   *
   * @param differences of which those that are 0 say nothing
   */
  static PairedShares exact(int... differences) {
    int largest = Arrays.stream(differences).map(Math::abs).sum();
    int observed = Math.abs(Arrays.stream(differences).sum());
    if (observed == 0) return new PairedShares(1, null);
    // A sum of s with a plus sign is 2 s less the largest in all; it is as likely as the largest
    // less s, so that the upper tail is that of the small sums.
    int most = (largest - observed) / 2;
    // Of the magnitudes with a plus sign, by their sum.
    double[] chance = new double[most + 1];
    chance[0] = 1;
    int reached = 0;
    for (int difference : differences) {
      int step = Math.abs(difference);
      reached = Math.min(reached + step, most);
      for (int sum = reached; sum >= step; sum--) {
        chance[sum] = (chance[sum] + chance[sum - step]) / 2;
      }
      for (int sum = Math.min(reached, step - 1); sum >= 0; sum--) chance[sum] /= 2;
    }
    double tail = IntStream.rangeClosed(0, most).mapToDouble(s -> chance[most - s]).sum();
    return new PairedShares(Math.min(1, 2 * tail), null);
  }

  private static PairedShares drawn(double[] differences) {
    double observed = Math.abs(DoubleStream.of(differences).sum());
    var random = new SplittableRandom(Bootstrap.SEED);
    int asFar = 0;
    for (int i = 0; i < DRAWN; i++) {
      double sum = 0;
      for (double difference : differences) sum += random.nextBoolean() ? difference : -difference;
      if (Math.abs(sum) >= observed - EQUAL) asFar++;
    }
    double p = (asFar + 1.0) / (DRAWN + 1);
    return new PairedShares(p, Math.sqrt(p * (1 - p) / DRAWN));
  }

  /** The greatest common divisor; of 0 and another that other's magnitude. */
  private static long gcd(long one, long other) {
    long divisor = Math.abs(one);
    for (long rest = Math.abs(other); rest != 0; ) {
      long next = divisor % rest;
      divisor = rest;
      rest = next;
    }
    return divisor;
  }
}
