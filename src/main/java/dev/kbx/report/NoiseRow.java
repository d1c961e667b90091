package dev.kbx.report;

import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.List;

/**
 * One size, timed once by {@code kbx bench noise}.
 *
 * @param task {@code Category/name}
 * @param repeat which time this task was judged, from 0
 * @param rounds that the interval comes from
 */
public record NoiseRow(
    String task,
    String shape,
    int repeat,
    double candidateMs,
    double referenceMs,
    double speedup,
    double low,
    double high,
    int rounds) {

  static List<NoiseRow> of(Verdict verdict) {
    List<SizeTiming> sizes = verdict.sizes() == null ? List.of() : verdict.sizes();
    return sizes.stream().map(size -> of(verdict, size)).toList();
  }

  private static NoiseRow of(Verdict verdict, SizeTiming size) {
    return new NoiseRow(
        verdict.category() + "/" + verdict.task(),
        size.shape(),
        verdict.sample(),
        size.candidateMs(),
        size.referenceMs(),
        size.speedup(),
        size.low(),
        size.high(),
        size.rounds());
  }

  Ratio ratio() {
    return new Ratio(speedup, low, high);
  }

  /** What the size takes: the shorter of both sides. */
  double ms() {
    return Math.min(candidateMs, referenceMs);
  }

  /** |log speedup|. */
  double distance() {
    return Math.abs(Math.log(speedup));
  }

  double halfWidth() {
    return Math.log(high / low) / 2;
  }

  /** What tells sizes apart. */
  String size() {
    return task + " " + shape;
  }
}
