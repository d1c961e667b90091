package dev.kbx.timing;

import dev.kbx.stats.Median;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One round on one size: candidate and reference on the same fresh inputs, one after the other.
 * Times are milliseconds a call.
 *
 * @param candidateMs median by the candidate's events
 * @param gapMs wall-clock time beyond that, if unexplained; else 0
 * @param unevenMs mean minus median, if larger than the reference's own; else 0
 * @param referenceMs median of the reference
 * @param referenceFirst whether the reference went first
 * @param stepMs smallest difference between the times of two calls of the reference; 0 if they are
 *     all equal
 * @param hostBound whether the device may have waited for the host
 */
record Round(
    double candidateMs,
    double gapMs,
    double unevenMs,
    double referenceMs,
    boolean referenceFirst,
    double stepMs,
    boolean hostBound) {
  /** Less than this between two times is rounding. */
  private static final double NANOSECOND = 1e-6;

  /** A round in which an oracle timed both sides, so that no time is a claim. */
  static Round trusted(List<Double> candidateMs, List<Double> referenceMs, boolean referenceFirst) {
    return new Round(
        Median.of(candidateMs),
        0,
        0,
        Median.of(referenceMs),
        referenceFirst,
        step(referenceMs),
        false);
  }

  /** The smallest difference between two times; 0 if there is none. */
  static double step(List<Double> deviceMs) {
    double[] sorted = deviceMs.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return IntStream.range(1, sorted.length)
        .mapToDouble(i -> sorted[i] - sorted[i - 1])
        .filter(ms -> ms > NANOSECOND)
        .min()
        .orElse(0);
  }

  /** This round, with the unexplained wall-clock time added to the candidate's. */
  Round withGap() {
    return new Round(
        candidateMs + gapMs, 0, unevenMs, referenceMs, referenceFirst, stepMs, hostBound);
  }

  /** This round, by the candidate's mean. */
  Round withMean() {
    return new Round(
        candidateMs + unevenMs, gapMs, 0, referenceMs, referenceFirst, stepMs, hostBound);
  }

  /** This round, with the reference's time multiplied by a factor. */
  Round withReference(double factor) {
    return new Round(
        candidateMs,
        gapMs,
        unevenMs,
        referenceMs * factor,
        referenceFirst,
        stepMs * factor,
        hostBound);
  }

  /** log(t_reference / t_candidate). */
  double logRatio() {
    return Math.log(referenceMs / candidateMs);
  }
}
