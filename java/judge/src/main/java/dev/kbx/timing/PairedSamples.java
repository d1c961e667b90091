package dev.kbx.timing;

import static dev.kbx.timing.Defaults.BUDGET_SECONDS;
import static dev.kbx.timing.Defaults.CONFIDENCE;
import static dev.kbx.timing.Defaults.EVENT_STEP_MS;
import static dev.kbx.timing.Defaults.GAP_ROUNDS;
import static dev.kbx.timing.Defaults.HOPELESS_BUDGETS;
import static dev.kbx.timing.Defaults.HOST_SCATTER;
import static dev.kbx.timing.Defaults.LAUNCHING_MS;
import static dev.kbx.timing.Defaults.LEAST_STALL;
import static dev.kbx.timing.Defaults.MAX_ROUNDS;
import static dev.kbx.timing.Defaults.MAX_SHORT_ROUNDS;
import static dev.kbx.timing.Defaults.MIN_GAP_ROUNDS;
import static dev.kbx.timing.Defaults.MIN_HOPELESS_ROUNDS;
import static dev.kbx.timing.Defaults.MIN_ROUNDS;
import static dev.kbx.timing.Defaults.NORMAL_QUANTILE;
import static dev.kbx.timing.Defaults.SCATTER;
import static dev.kbx.timing.Defaults.SHARED_SECONDS;
import static dev.kbx.timing.Defaults.SHORT_MS;
import static dev.kbx.timing.Defaults.SHORT_SCATTER;
import static dev.kbx.timing.Defaults.SLOW_MS;
import static dev.kbx.timing.Defaults.SLOW_PART;
import static dev.kbx.timing.Defaults.STALL_DEVIATIONS;
import static dev.kbx.timing.Defaults.STALL_SHARE;
import static dev.kbx.timing.Defaults.TIGHT;
import static dev.kbx.timing.Defaults.TIGHT_SHORT;
import static dev.kbx.timing.Defaults.UNEVEN_ROUNDS;

import dev.kbx.stats.LogMean;
import dev.kbx.stats.Median;
import dev.kbx.stats.Outliers;
import dev.kbx.stats.Ratio;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/**
 * The rounds of one size: decides when there are enough, which of them count, and computes the
 * estimate. Independent of workers and clocks.
 *
 * <p>The estimate is that of a crossover trial ({@link LogMean#ofCrossover}) over the rounds that
 * no stall has spoiled ({@link Outliers}). Of the estimators that were simulated under quantised
 * events, jitter, drift, order effects, stalls and switching clocks it needs the fewest rounds for
 * an interval that holds what it promises. Pairs of rounds spend half their degrees of freedom. At
 * six to eight rounds Yuen's interval of trimmed means covers 89 to 92 % where it says 95 %, and
 * that of biweights 80 to 88 %; rank intervals are then the whole range, stalls included. Where
 * stalls are left in and hit 5 % of rounds, a quarter of the sizes never get an interval within 1
 * %. {@code PairedSamplesTest} repeats the simulation of the estimate chosen.
 *
 * <p>Stopping when the interval happens to be narrow makes it cover less than it says (Y. S. Chow
 * and H. Robbins, "On the asymptotic theory of fixed-width sequential confidence intervals for the
 * same journal, 37 (1966) 36–50). Hence the interval is checked rarely, after every second round,
 * and its quantile is that of {@link Defaults#CONFIDENCE}.
 */
final class PairedSamples {
  private final List<Round> rounds = new ArrayList<>();

  /** Rounds whose two clocks disagree. */
  private final List<Round> gaps = new ArrayList<>();

  private final double budgetSeconds;

  private boolean gapsCount;

  /**
   * @param sizes number of sizes of the task
   */
  PairedSamples(int sizes) {
    this.budgetSeconds = Math.max(BUDGET_SECONDS, SHARED_SECONDS / sizes);
  }

  void add(Round round) {
    (round.gapMs() > 0 ? gaps : rounds).add(round);
  }

  /**
   * Whether measuring may stop after {@code seconds} on this size; only after both orders.
   *
   * @param provisional whether the size will also be timed in another way
   */
  boolean enough(double seconds, boolean provisional) {
    int measured = measured();
    if (measured < MIN_ROUNDS || measured % 2 == 1) return false;
    // Among few rounds, two that a busy machine has stalled would be a large share.
    if (provisional && gaps.isEmpty()) return true;
    if (gapsAreMany() && measured < MIN_GAP_ROUNDS) return seconds > budgetSeconds;
    return measured >= (isShort() || !attainable() ? MAX_SHORT_ROUNDS : MAX_ROUNDS)
        || seconds > budgetSeconds
        || tight()
        || hopeless(seconds);
  }

  /** Rounds so far, whether or not they will count. */
  int measured() {
    return rounds.size() + gaps.size();
  }

  /**
   * Whether rounds are so slow and uneven that the budget would end without a tight interval: for
   * example, a reference that waits for the host.
   */
  private boolean hopeless(double seconds) {
    if (rounds.size() < MIN_ROUNDS || seconds < SLOW_PART * budgetSeconds) return false;
    if (rounds.size() < MIN_HOPELESS_ROUNDS && candidateMs() + referenceMs() < SLOW_MS)
      return false;
    double halfWidth = NORMAL_QUANTILE * Math.sqrt(repeated().variance());
    return seconds * Math.pow(halfWidth / repeatable(), 2) > HOPELESS_BUDGETS * budgetSeconds;
  }

  /** The part of a tight interval's half width that more rounds can reduce. */
  private double repeatable() {
    double scattered = NORMAL_QUANTILE * scatter();
    return Math.sqrt(Math.max(0, Math.pow(tightness(), 2) - Math.pow(scattered, 2)));
  }

  /** Whether any number of rounds could make the interval tight. */
  private boolean attainable() {
    return rounds.isEmpty() || NORMAL_QUANTILE * scatter() + resolution() < tightness();
  }

  /** Standard deviation between processes, which rounds of one process do not show. */
  private double scatter() {
    if (!hostBound() || rounds.size() < MIN_ROUNDS) return deviceScatter();
    return Math.hypot(deviceScatter(), Math.min(deviation(), HOST_SCATTER));
  }

  /** The same where the device does not wait for the host. */
  private double deviceScatter() {
    return isShort() ? SHORT_SCATTER : SCATTER;
  }

  /** Standard deviation of a round's log ratio. */
  private double deviation() {
    return Math.sqrt(repeated().variance() * size());
  }

  private double tightness() {
    return isShort() ? TIGHT_SHORT : TIGHT;
  }

  /** Decides, after measuring, which rounds count and how. */
  void settle() {
    settleGaps();
    countUnevenRounds();
  }

  /**
   * A machine stalls now and then, and such a round is left out. If it happens repeatedly, the
   * candidate hides time from its events, and the wall clock counts.
   */
  private void settleGaps() {
    if (!gapsAreMany() && rounds.size() >= MIN_ROUNDS) return;
    gapsCount |= !gaps.isEmpty();
    gaps.forEach(round -> rounds.add(round.withGap()));
    gaps.clear();
  }

  private boolean gapsAreMany() {
    return gaps.size() >= GAP_ROUNDS && gaps.size() >= STALL_SHARE * measured();
  }

  /**
   * A candidate that does the work of a whole batch in one call has a median near zero: if that
   * happens more than by chance, such rounds count by their mean.
   */
  private void countUnevenRounds() {
    if (rounds.stream().filter(r -> r.unevenMs() > 0).count() >= UNEVEN_ROUNDS) {
      rounds.replaceAll(Round::withMean);
    }
  }

  /** Counts all rounds as if the reference's median were {@code ms}. */
  void holdReferenceTo(double ms) {
    double factor = ms / referenceMs();
    rounds.replaceAll(round -> round.withReference(factor));
  }

  /** The settled rounds, as verdicts keep them. */
  String raw() {
    return RawRounds.text(rounds);
  }

  /** Whether time that only the wall clock saw counts. */
  boolean gapsCount() {
    return gapsCount;
  }

  /** Number of rounds behind the interval. */
  int size() {
    return steady().size();
  }

  /** Median milliseconds of the candidate. */
  double candidateMs() {
    return median(Round::candidateMs);
  }

  /** Median milliseconds of the reference. */
  double referenceMs() {
    return median(Round::referenceMs);
  }

  /**
   * Logarithm of the speedup with its uncertainty. If the device waits for the host, processes
   * differ as much as rounds do: the mean of all predicts another process no better than one round.
   */
  LogMean logSpeedup() {
    LogMean mean = repeated();
    if (hostBound()) {
      boolean much = deviation() > HOST_SCATTER;
      mean = much ? mean.withScatter(HOST_SCATTER) : mean.ofOneMore(size());
    }
    return mean.withScatter(deviceScatter()).withResolution(resolution());
  }

  /** Whether the times include the host. */
  boolean hostBound() {
    return 2 * rounds.stream().filter(Round::hostBound).count() > rounds.size();
  }

  /** Whether they do in more rounds than a stall now and then explains. */
  boolean oftenHostBound() {
    long bound = rounds.stream().filter(Round::hostBound).count();
    return bound > 0 && bound >= STALL_SHARE * rounds.size();
  }

  /** Logarithm of the speedup, from the rounds alone. */
  private LogMean repeated() {
    List<Round> steady = steady();
    double[] ahead = logRatios(steady, Round::referenceFirst);
    double[] behind = logRatios(steady, r -> !r.referenceFirst());
    return ahead.length == 0 || behind.length == 0
        ? LogMean.of(logRatios(steady, _ -> true))
        : LogMean.ofCrossover(ahead, behind);
  }

  /** The speedup with its 95 % interval. */
  Ratio ratio() {
    return Ratio.of(logSpeedup(), CONFIDENCE);
  }

  private boolean tight() {
    if (rounds.size() < MIN_ROUNDS) return false;
    Ratio ratio = ratio();
    return ratio.high() - ratio.low() <= 2 * tightness() * ratio.value();
  }

  /** Whether launching may be a large part of the time, on at least one side. */
  boolean launchBound() {
    return shorterThan(LAUNCHING_MS);
  }

  private boolean isShort() {
    return shorterThan(SHORT_MS);
  }

  private boolean shorterThan(double ms) {
    return !rounds.isEmpty() && Math.min(candidateMs(), referenceMs()) < ms;
  }

  /**
   * The rounds without stalls of one side. If more than a few rounds are affected it is not a stall
   * but the side's behaviour, and all count.
   */
  private List<Round> steady() {
    double shift = orderShift();
    double[] ratios =
        rounds.stream()
            .mapToDouble(r -> r.logRatio() - (r.referenceFirst() ? shift : -shift))
            .toArray();
    boolean[] stalled = Outliers.in(ratios, STALL_DEVIATIONS, LEAST_STALL);
    List<Round> steady = new ArrayList<>();
    for (int i = 0; i < stalled.length; i++) if (!stalled[i]) steady.add(rounds.get(i));
    return steady.size() >= (1 - STALL_SHARE) * rounds.size() ? steady : rounds;
  }

  /** How much a log ratio shifts if the reference goes first; 0 if one order is missing. */
  private double orderShift() {
    double[] ahead = logRatios(rounds, Round::referenceFirst);
    double[] behind = logRatios(rounds, r -> !r.referenceFirst());
    if (ahead.length == 0 || behind.length == 0) return 0;
    return (Median.of(ahead) - Median.of(behind)) / 2;
  }

  /** If each time is off by at most half a step, so is their median. */
  private double resolution() {
    double step =
        rounds.stream().mapToDouble(Round::stepMs).filter(ms -> ms > 0).min().orElse(EVENT_STEP_MS);
    return step / 2 * (1 / candidateMs() + 1 / referenceMs());
  }

  private static double[] logRatios(List<Round> of, Predicate<Round> which) {
    return of.stream().filter(which).mapToDouble(Round::logRatio).toArray();
  }

  private double median(ToDoubleFunction<Round> part) {
    return Median.of(rounds.stream().mapToDouble(part).toArray());
  }
}
