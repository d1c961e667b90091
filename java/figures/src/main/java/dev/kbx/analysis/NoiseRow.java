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
 * @param repeat number of the repetition of this task, from 0
 * @param rounds measuring rounds of the interval
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
    List<SizeTiming> sizes =
        verdict.judgement().sizes() == null ? List.of() : verdict.judgement().sizes();
    return sizes.stream().map(size -> of(verdict, size)).toList();
  }

  private static NoiseRow of(Verdict verdict, SizeTiming size) {
    return new NoiseRow(
        verdict.judgement().device().uuid(),
        verdict.provenance().category() + "/" + verdict.provenance().task(),
        size.shape(),
        verdict.provenance().sample(),
        size.candidateMs(),
        size.referenceMs(),
        size.speedup(),
        size.low(),
        size.high(),
        size.rounds(),
        size.hostBound());
  }

  /** Whether another row is the same size, device and repetition. */
  boolean isTwin(NoiseRow other) {
    return repeat == other.repeat
        && shape.equals(other.shape)
        && Objects.equals(device, other.device);
  }

  Ratio ratio() {
    return new Ratio(speedup, low, high);
  }

  /** Duration of the size: the shorter time of the two sides. */
  double ms() {
    return Math.min(candidateMs, referenceMs);
  }

  /** Whether it is timed until its interval is within 1 %. */
  boolean isLong() {
    return ms() >= NoiseClass.LONG_MS;
  }

  /** Whether the size is device-bound. */
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

  /** Identity of the size. */
  String size() {
    return task + " " + shape;
  }
}
