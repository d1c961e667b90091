package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.NoiseFloor;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A candidate's speedup over its counterpart's in the earlier run, with the interval of {@link
 * Ratio#over}, and whether they differ: the 95 % intervals do not overlap, and the difference
 * exceeds the noise floor, if known. This is stricter than a test at 5 % (N. Schenker and J. F.
 * Gentleman, "On judging the significance of differences by examining the overlap between
 * confidence intervals", The American Statistician 55 (2001) 182–186); differences between sessions
 * are in neither interval.
 *
 * @param value null, as are both ends, if the two are not comparable
 * @param low null, as is {@code high}, of published speedups, too
 */
public record SpeedChange(
    Outcome outcome, @Nullable Double value, @Nullable Double low, @Nullable Double high) {

  /** Outcome of the comparison. */
  public enum Outcome {
    FASTER,
    SLOWER,
    /** The difference is within the intervals or the noise floor. */
    SAME,
    OTHER_DEVICE,
    OTHER_BASELINE,
    /** The timed sizes differ or are unknown. */
    OTHER_SIZES,
    /**
     * Both speedups are as published: without sizes and intervals, so that no change can be told.
     */
    AS_PUBLISHED;

    /** The name in files: {@code faster, other_sizes, …}. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Compares two verdicts; null unless both are correct and timed.
   *
   * @param floors noise floors of devices; that of the GPU of {@code now} counts
   */
  static @Nullable SpeedChange of(VerdictRow then, VerdictRow now, List<NoiseFloor> floors) {
    Ratio before = then.correctSpeedup();
    Ratio after = now.correctSpeedup();
    if (before == null || after == null) return null;
    if (!sameDevice(then, now)) return refused(Outcome.OTHER_DEVICE);
    if (!Objects.equals(then.against(), now.against())) return refused(Outcome.OTHER_BASELINE);
    if (then.asPublished() && now.asPublished()) {
      double change = after.value() / before.value();
      return new SpeedChange(Outcome.AS_PUBLISHED, change, null, null);
    }
    if (!then.hasSizesOf(now)) return refused(Outcome.OTHER_SIZES);
    Ratio change = after.over(before);
    NoiseFloor floor = NoiseFloor.of(now.device().uuid(), floors);
    double least = floor != null ? Math.log1p(floor.ofTwo()) : 0;
    boolean exceeds = Math.abs(Math.log(change.value())) > least;
    Outcome outcome = Outcome.SAME;
    if (exceeds && after.low() > before.high()) outcome = Outcome.FASTER;
    if (exceeds && after.high() < before.low()) outcome = Outcome.SLOWER;
    return new SpeedChange(outcome, change.value(), change.low(), change.high());
  }

  private static SpeedChange refused(Outcome why) {
    return new SpeedChange(why, null, null, null);
  }

  private static boolean sameDevice(VerdictRow then, VerdictRow now) {
    return then.device().name().equals(now.device().name())
        && Objects.equals(then.device().uuid(), now.device().uuid());
  }
}
