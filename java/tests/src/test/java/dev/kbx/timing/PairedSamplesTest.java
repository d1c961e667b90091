package dev.kbx.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kbx.stats.Median;
import dev.kbx.stats.Ratio;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Rounds on simulated devices, whose true ratio is known. */
class PairedSamplesTest {
  private static final int SIZES = 600;

  /** Shares of intervals that hold the true ratio where the clock has fine steps. */
  private static final double LEAST = 0.93;

  private static final double MOST = 0.98;
  private static final int CALLS = 8;
  private static final double ROUND_SECONDS = 0.02;

  /** Standard deviation of the log ratio of two processes that do the same. */
  private static final double SCATTER = 0.0025;

  /** The same where a side takes less than 50 us. */
  private static final double SHORT_SCATTER = 0.0205;

  /** The same where the device waits for the host. */
  private static final double HOST_SCATTER = 0.04;

  /** Standard deviation of a call within its batch. */
  private static final double CALL_JITTER = 0.005;

  /** Microseconds between the ticks of an H100's events. */
  private static final double FINE = 0.032;

  /** What a device does to its times. */
  enum Noise {
    SILENT(200, 0.0005),
    QUIET(200, 0.003),
    USUAL(200, 0.005),
    RESTLESS(200, 0.01),
    LOUD(200, 0.02),
    HOSTBOUND(30000, 0.08),
    WAITING(2000, 0.02),
    WAITING_LITTLE(2000, 0.005),
    WARMING(200, 0.005, FINE, 0.05, 0, 0, 0),
    ORDERED(200, 0.005, FINE, 0, 0.005, 0, 0),
    STALLING(200, 0.005, FINE, 0, 0, 0.05, 0),
    SWITCHING(200, 0.003, FINE, 0, 0, 0, 0.05),
    COARSE(130, 0.005, 0.5, 0, 0, 0, 0),
    ALL_AT_ONCE(60, 0.005, FINE, 0.03, 0.005, 0.02, 0.02),
    SHORT(20, 0.01, 0.5, 0, 0, 0, 0),
    SHORTEST(4, 0.02, 0.5, 0, 0, 0, 0);

    private final double us;
    private final double jitter;
    private final double tickUs;
    private final double drift;
    private final double order;
    private final double stalls;
    private final double switching;

    /**
     * @param us true microseconds a call of the reference
     * @param jitter standard deviation of a round's log ratio
     * @param tickUs microseconds between ticks of the event clock
     * @param drift by which times grow in the first second, both sides alike
     * @param order by which whoever goes second is slower
     * @param stalls part of the rounds in which one side takes 10 % to 1000 % longer
     * @param switching chance before each batch that the clock changes between levels 3 % apart
     */
    Noise(
        double us,
        double jitter,
        double tickUs,
        double drift,
        double order,
        double stalls,
        double switching) {
      this.us = us;
      this.jitter = jitter;
      this.tickUs = tickUs;
      this.drift = drift;
      this.order = order;
      this.stalls = stalls;
      this.switching = switching;
    }

    Noise(double us, double jitter) {
      this(us, jitter, FINE, 0, 0, 0, 0);
    }

    /** Whether the device waits for the host: processes then differ as rounds do. */
    boolean waits() {
      return this == HOSTBOUND || this == WAITING || this == WAITING_LITTLE;
    }
  }

  /** One size on a device, measured until there are enough rounds. */
  private static final class Device {
    private final Noise noise;
    private final double roundSeconds;
    private final SplittableRandom random;
    private final double process;
    private double level;
    private double seconds;

    Device(Noise noise, double roundSeconds, long seed) {
      this.noise = noise;
      this.roundSeconds = roundSeconds;
      this.random = new SplittableRandom(seed);
      this.process = gauss();
    }

    /** How much longer a call takes in this process. */
    private double scatter(double speedup) {
      double hosts = noise.waits() ? Math.min(noise.jitter, HOST_SCATTER) : 0;
      double devices = noise.us / Math.max(1, speedup) < 50 ? SHORT_SCATTER : SCATTER;
      return Math.exp(Math.hypot(devices, hosts) * process);
    }

    PairedSamples measure(double speedup) {
      PairedSamples rounds = new PairedSamples(4);
      for (int number = 1; !rounds.enough(seconds, false); number++) {
        rounds.add(round(number % 2 == 0, speedup));
      }
      rounds.settle();
      return rounds;
    }

    private Round round(boolean referenceFirst, double speedup) {
      boolean stalled = random.nextDouble() < noise.stalls;
      boolean candidates = random.nextBoolean();
      double[] reference = {};
      double[] candidate = {};
      for (int turn = 0; turn < 2; turn++) {
        boolean isReference = (turn == 0) == referenceFirst;
        double stall = stalled && candidates != isReference ? stall() : 1;
        double truth = isReference ? noise.us : noise.us * scatter(speedup) / speedup;
        double[] batch = batch(truth * stall * (turn == 1 ? 1 + noise.order : 1));
        if (isReference) reference = batch;
        else candidate = batch;
        seconds += roundSeconds / 2;
      }
      double[] sorted = Arrays.stream(reference).sorted().toArray();
      double step = Double.POSITIVE_INFINITY;
      for (int i = 1; i < CALLS; i++) {
        if (sorted[i] > sorted[i - 1] + 1e-9) step = Math.min(step, sorted[i] - sorted[i - 1]);
      }
      return new Round(
          Median.of(candidate),
          0,
          0,
          Median.of(reference),
          referenceFirst,
          Double.isFinite(step) ? step : 0,
          noise.waits());
    }

    /** Milliseconds of the calls of a batch. */
    private double[] batch(double us) {
      if (random.nextDouble() < noise.switching) level = 0.03 - level;
      double warm = 1 + noise.drift * (1 - Math.exp(-seconds / 0.3));
      double batch = us * warm * (1 + level) * (1 + gauss() * noise.jitter / Math.sqrt(2));
      double[] calls = new double[CALLS];
      for (int i = 0; i < CALLS; i++) {
        double call = batch * (1 + gauss() * CALL_JITTER);
        double ticks = Math.floor(call / noise.tickUs + random.nextDouble());
        calls[i] = ticks * noise.tickUs / 1e3;
      }
      return calls;
    }

    private double stall() {
      return 1 + 0.1 * Math.pow(100, random.nextDouble());
    }

    private double gauss() {
      return random.nextGaussian();
    }
  }

  private static PairedSamples[] sizes(Noise noise, double speedup) {
    return sizes(noise, ROUND_SECONDS, speedup);
  }

  private static PairedSamples[] sizes(Noise noise, double roundSeconds, double speedup) {
    PairedSamples[] sizes = new PairedSamples[SIZES];
    Arrays.setAll(sizes, i -> new Device(noise, roundSeconds, 1_000_003L * i + 7).measure(speedup));
    return sizes;
  }

  private static double share(PairedSamples[] sizes, Predicate<Ratio> holds) {
    return Arrays.stream(sizes).map(PairedSamples::ratio).filter(holds).count()
        / (double) sizes.length;
  }

  private static boolean covers(Ratio ratio, double truth) {
    return ratio.low() <= truth && truth <= ratio.high();
  }

  private static double halfWidth(Ratio ratio) {
    return (ratio.high() - ratio.low()) / 2 / ratio.value();
  }

  @ParameterizedTest
  @EnumSource(Noise.class)
  void intervalsHaveNominalCoverage(Noise noise) {
    for (double speedup : new double[] {1, 1.03, 2.5}) {
      PairedSamples[] sizes = sizes(noise, speedup);
      assertThat(share(sizes, ratio -> covers(ratio, speedup)))
          .as("coverage at %s", speedup)
          .isBetween(noise.tickUs > 0.1 ? 0.99 : LEAST, noise.tickUs > 0.1 ? 1 : MOST);
    }
  }

  @Test
  void pageHasTheSimulatedCoverage() throws IOException {
    assertThat(Files.readString(Path.of("docs/timing.md")))
        .contains(
            "%.0f to %.0f %% of intervals hold the true ratio".formatted(100 * LEAST, 100 * MOST));
  }

  @ParameterizedTest
  @EnumSource(Noise.class)
  void longSizesAreTimedToOnePercent(Noise noise) {
    if (noise.us < 50 || noise.waits()) return;
    PairedSamples[] same = sizes(noise, 1);
    assertThat(share(same, ratio -> halfWidth(ratio) <= 0.01))
        .isGreaterThan(noise == Noise.LOUD ? 0.90 : 0.95);
    assertThat(share(same, ratio -> Math.abs(ratio.value() - 1) <= 0.01)).isGreaterThan(0.95);
    PairedSamples[] slowed = sizes(noise, 1 / 1.03);
    assertThat(share(slowed, ratio -> !covers(ratio, 1))).isGreaterThan(0.98);
  }

  @ParameterizedTest
  @CsvSource({
    "SILENT, 5",
    "QUIET, 5.5",
    "USUAL, 6.5",
    "WARMING, 6.5",
    "ORDERED, 6.5",
    "STALLING, 7",
    "RESTLESS, 10",
    "LOUD, 28",
    "SHORT, 8",
    "SHORTEST, 8",
  })
  void roundsEndAtTheRequiredPrecision(Noise noise, double rounds) {
    double mean =
        Arrays.stream(sizes(noise, 1)).mapToInt(PairedSamples::size).average().orElseThrow();
    assertThat(mean).isLessThanOrEqualTo(rounds);
  }

  /** Of rounds that take a fifth of a second there are eight in the budget. */
  @ParameterizedTest
  @CsvSource({"USUAL, 5, 6.5, 0.95", "LOUD, 5, 8.1, 0", "HOSTBOUND, 4, 5, 0"})
  void slowRoundsAreNotRepeatedBeyondUse(Noise noise, double least, double most, double tight) {
    for (double speedup : new double[] {1, 0.5}) {
      PairedSamples[] sizes = sizes(noise, 0.2, speedup);
      assertThat(Arrays.stream(sizes).mapToInt(PairedSamples::size).average().orElseThrow())
          .isBetween(least, most);
      assertThat(share(sizes, ratio -> covers(ratio, speedup))).isBetween(0.90, 0.99);
      assertThat(share(sizes, ratio -> halfWidth(ratio) <= 0.01)).isGreaterThanOrEqualTo(tight);
    }
  }

  private static Round round(int number, double candidateMs, double referenceMs) {
    return new Round(candidateMs, 0, 0, referenceMs, number % 2 == 0, 1e-5, false);
  }

  @Test
  void costOfTheSecondPositionCancels() {
    PairedSamples rounds = new PairedSamples(4);
    for (int i = 0; i < 4; i++) {
      rounds.add(round(i, i % 2 == 0 ? 1.01 : 1, i % 2 == 0 ? 1 : 1.01));
    }
    assertThat(rounds.enough(0, false)).isTrue();
    assertThat(rounds.ratio().value()).isCloseTo(1, within(1e-9));
    assertThat(halfWidth(rounds.ratio())).isLessThan(0.006);
  }

  @Test
  void singleStallIsExcludedButRepeatedOnesAreNot() {
    PairedSamples once = new PairedSamples(4);
    PairedSamples often = new PairedSamples(4);
    double[] jitter = {0.999, 1.001, 1.0005, 0.9995, 1, 1.0015, 0.998, 1.001};
    for (int i = 0; i < 8; i++) {
      once.add(round(i, jitter[i] * (i == 3 ? 2 : 1), 1));
      often.add(round(i, jitter[i] * (i == 1 || i == 3 || i == 6 ? 2 : 1), 1));
    }
    assertThat(once.size()).isEqualTo(7);
    assertThat(once.ratio().value()).isCloseTo(1, within(0.002));
    assertThat(often.size()).isEqualTo(8);
    assertThat(often.ratio().value()).isLessThan(0.9);
  }

  @Test
  void equalTimesHaveTheClockResolution() {
    PairedSamples rounds = new PairedSamples(4);
    for (int i = 0; i < 4; i++) rounds.add(new Round(0.005, 0, 0, 0.005, i % 2 == 0, 0, false));
    Ratio ratio = rounds.ratio();
    assertThat(ratio.value()).isEqualTo(1);
    assertThat(halfWidth(ratio)).as("and of a process").isCloseTo(0.1 + 0.045, within(0.006));
  }

  @Test
  void secondClockReducesTheRounds() {
    PairedSamples rounds = new PairedSamples(4);
    for (int i = 0; i < 4; i++) rounds.add(round(i, i % 3 == 0 ? 2 : 1, 1));
    assertThat(rounds.enough(0, true)).isTrue();
    assertThat(rounds.enough(0, false)).isFalse();
  }

  @Test
  void disagreeingClockNeedsMoreRounds() {
    PairedSamples rounds = new PairedSamples(4);
    for (int i = 0; i < 4; i++) {
      rounds.add(new Round(0.02, i == 2 ? 5 : 0, 0, 0.02 + 0.01 * i, i % 2 == 0, 1e-5, false));
    }
    assertThat(rounds.enough(0, true)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"2, false", "6, true"})
  void stallAmongFewRoundsNeedsMoreRounds(int stalled, boolean counts) {
    PairedSamples rounds = new PairedSamples(4);
    for (int i = 0; i < 16; i++) {
      if (i == 6) assertThat(rounds.enough(0.1, false)).isFalse();
      rounds.add(
          new Round(1, i % 2 == 0 && i < 2 * stalled ? 5 : 0, 0, 1, i % 2 == 0, 1e-5, false));
    }
    assertThat(rounds.enough(0.1, false)).isTrue();
    rounds.settle();
    assertThat(rounds.gapsCount()).isEqualTo(counts);
  }

  @Test
  void extraRoundsEndWithTheBudget() {
    PairedSamples rounds = new PairedSamples(4);
    for (int i = 0; i < 6; i++) rounds.add(new Round(1, 5, 0, 1, i % 2 == 0, 1e-5, false));
    assertThat(rounds.enough(1.4, false)).isFalse();
    assertThat(rounds.enough(1.6, false)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"1, 4.4, 4.6", "2, 2.2, 2.3", "3, 1.4, 1.6", "5, 1.4, 1.6"})
  void soleSizeHasMoreTime(int sizes, double before, double after) {
    PairedSamples rounds = new PairedSamples(sizes);
    for (int i = 0; i < 8; i++) rounds.add(round(i, i % 3 == 0 ? 1.02 : 1, 1));
    assertThat(rounds.enough(before, false)).isFalse();
    assertThat(rounds.enough(after, false)).isTrue();
  }

  @Test
  void roundsEndOnlyAfterAPair() {
    PairedSamples rounds = new PairedSamples(4);
    for (int i = 0; i < 5; i++) {
      assertThat(rounds.enough(100, false)).isEqualTo(i == 4);
      rounds.add(round(i, 1, 1));
    }
    assertThat(rounds.enough(100, false)).isFalse();
  }
}
