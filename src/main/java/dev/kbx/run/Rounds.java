package dev.kbx.run;

import dev.kbx.stats.Median;
import dev.kbx.stats.Ratio;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The rounds of one size: when there are enough of them, which of them count, and what they come
 * to. Knows no worker and no clock.
 */
final class Rounds {
  /** Below this many rounds a t interval says little. */
  static final int MIN = 5;

  /** Above this many, more of them do not help. */
  static final int MAX = 24;

  /** Half width of the 95 % interval of the ratio at which measuring stops, relative. */
  private static final double TIGHT = 0.01;

  /** Seconds of rounds for one size after which measuring stops, once there are enough rounds. */
  private static final double BUDGET_SECONDS = 1.5;

  /** This many uneven rounds are no hiccups of the machine. */
  private static final int UNEVEN_ROUNDS = 2;

  /** This many rounds with a gap, and this part of all, are no stalls of the machine. */
  private static final int GAP_ROUNDS = 2;

  private static final double GAP_SHARE = 0.25;

  private final List<Round> rounds = new ArrayList<>();

  /** Rounds whose two clocks do not agree. */
  private final List<Round> gaps = new ArrayList<>();

  private boolean gapsCount;

  void add(Round round) {
    (round.gapMs() > 0 ? gaps : rounds).add(round);
  }

  /** Whether measuring may stop after {@code seconds} on this size. */
  boolean enough(double seconds) {
    int measured = rounds.size() + gaps.size();
    return measured >= MAX || (measured >= MIN && (tight() || seconds > BUDGET_SECONDS));
  }

  /** Decides which rounds count, and how. Call once, when measuring has ended. */
  void settle() {
    settleGaps();
    countUnevenRounds();
  }

  /**
   * A machine stalls now and then, and such a round says nothing: it is left out. Where it happens
   * again and again the candidate hides time from its events, and the wall clock counts.
   */
  private void settleGaps() {
    boolean often =
        gaps.size() >= GAP_ROUNDS && gaps.size() >= GAP_SHARE * (rounds.size() + gaps.size());
    if (!often && rounds.size() >= MIN) return;
    gapsCount = !gaps.isEmpty();
    gaps.forEach(round -> rounds.add(round.withGap()));
  }

  /**
   * A candidate that does the work of a whole batch in one call has a median of nothing: where that
   * happens more than by chance, such rounds count by their mean.
   */
  private void countUnevenRounds() {
    if (rounds.stream().filter(r -> r.unevenMs() > 0).count() >= UNEVEN_ROUNDS) {
      rounds.replaceAll(Round::withMean);
    }
  }

  /** Whether time counts that only the wall clock saw. */
  boolean gapsCount() {
    return gapsCount;
  }

  /** Rounds that count. */
  int size() {
    return rounds.size();
  }

  /** Median milliseconds of the candidate. */
  double candidateMs() {
    return median(Round::candidateMs);
  }

  /** Median milliseconds of the reference. */
  double referenceMs() {
    return median(Round::referenceMs);
  }

  double[] logRatios() {
    return rounds.stream().mapToDouble(Round::logRatio).toArray();
  }

  /** The speedup with its 95 % interval. */
  Ratio ratio() {
    return Ratio.ofRounds(logRatios());
  }

  private boolean tight() {
    if (rounds.size() < MIN) return false;
    Ratio ratio = ratio();
    return ratio.high() - ratio.low() <= 2 * TIGHT * ratio.value();
  }

  private double median(ToDoubleFunction<Round> part) {
    return Median.of(rounds.stream().mapToDouble(part).toArray());
  }
}
