package dev.kbx.run;

import dev.kbx.stats.Median;
import java.util.List;

/**
 * One round on one size: candidate and reference, each on the same fresh inputs, one after the
 * other. Milliseconds a call.
 *
 * @param candidateMs the median that the candidate's events show
 * @param gapMs what the wall clock shows beyond that, if nothing explains it; else 0
 * @param unevenMs what the mean has beyond the median, if that is more than the reference's own;
 *     else 0
 * @param referenceMs the median of the reference
 */
record Round(double candidateMs, double gapMs, double unevenMs, double referenceMs) {
  /** A round in which no clock is a claim: the medians of what an oracle timed itself. */
  static Round trusted(List<Double> candidateMs, List<Double> referenceMs) {
    return new Round(median(candidateMs), 0, 0, median(referenceMs));
  }

  private static double median(List<Double> values) {
    return Median.of(values.stream().mapToDouble(Double::doubleValue).toArray());
  }

  /** The same, with the time that the candidate's events did not show. */
  Round withGap() {
    return new Round(candidateMs + gapMs, 0, unevenMs, referenceMs);
  }

  /** The same, counted by its mean. */
  Round withMean() {
    return new Round(candidateMs + unevenMs, gapMs, 0, referenceMs);
  }

  /** log(t_reference / t_candidate). */
  double logRatio() {
    return Math.log(referenceMs / candidateMs);
  }
}
