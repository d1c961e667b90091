package dev.kbx.analysis;

import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One size, timed once by {@code kbx bench noise}.
 *
 * @param device UUID of the GPU
 * @param task {@code Category/name}
 * @param repeat which time this task was judged, from 0
 * @param rounds that the interval comes from
 * @param hostBound as in {@link SizeTiming}
 */
public record NoiseRow(
    @Nullable String device,
    String task,
    String shape,
    int repeat,
    double candidateMs,
    double referenceMs,
    double speedup,
    double low,
    double high,
    int rounds,
    @Nullable Boolean hostBound) {

  static List<NoiseRow> of(Verdict verdict) {
    List<SizeTiming> sizes = verdict.sizes() == null ? List.of() : verdict.sizes();
    return sizes.stream().map(size -> of(verdict, size)).toList();
  }

  private static NoiseRow of(Verdict verdict, SizeTiming size) {
    return new NoiseRow(
        verdict.device().uuid(),
        verdict.category() + "/" + verdict.task(),
        size.shape(),
        verdict.sample(),
        size.candidateMs(),
        size.referenceMs(),
        size.speedup(),
        size.low(),
        size.high(),
        size.rounds(),
        size.hostBound());
  }

  /** Whether another row is the same measurement of another kernel. */
  boolean isTwin(NoiseRow other) {
    return repeat == other.repeat
        && shape.equals(other.shape)
        && Objects.equals(device, other.device);
  }

  Ratio ratio() {
    return new Ratio(speedup, low, high);
  }

  /** What the size takes: the shorter of both sides. */
  double ms() {
    return Math.min(candidateMs, referenceMs);
  }

  /** Whether it is timed until its interval is within 1 %. */
  boolean isLong() {
    return ms() >= NoiseClass.LONG_MS;
  }

  /** Whether the time is the device's alone. */
  boolean deviceAlone() {
    return hostBound == null || !hostBound;
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
