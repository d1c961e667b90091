package dev.kbx.analysis;

import dev.kbx.stats.Rate;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How many are correct at the general grade, which includes more calls than the published one.
 *
 * @param of number of tasks or candidates that it is a share of; null if unknown
 * @param share from 0 to 1; null if there is nothing to be a share of, as are the ends of its
 *     Wilson 95 % interval
 */
public record GeneralRate(
    int correct,
    @Nullable Integer of,
    @Nullable Double share,
    @Nullable Double low,
    @Nullable Double high) {

  /**
   * The rate among {@code of}; null if the result of one is unknown.
   *
   * @param general as {@link VerdictRow#general}
   */
  static @Nullable GeneralRate of(List<@Nullable Boolean> general, @Nullable Integer of) {
    if (general.stream().anyMatch(Objects::isNull)) return null;
    int correct = Math.toIntExact(general.stream().filter(Boolean.TRUE::equals).count());
    if (of == null || of == 0) return new GeneralRate(correct, of, null, null, null);
    var rate = new Rate(correct, of);
    return new GeneralRate(correct, of, rate.value(), rate.low(), rate.high());
  }

  /** Among the judged candidates of a run. */
  static @Nullable GeneralRate of(List<VerdictRow> rows) {
    List<VerdictRow> judged = rows.stream().filter(VerdictRow::judged).toList();
    return of(judged.stream().<@Nullable Boolean>map(VerdictRow::general).toList(), judged.size());
  }
}
