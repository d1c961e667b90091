package dev.kbx.analysis;

import dev.kbx.stats.Rate;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How many candidates are right at each grade, whoever computed, and on which properties the others
 * break.
 *
 * @param judged candidates with a known result at the published grade
 * @param published those of them that are right at the published grade
 * @param general those of them that are right at the general grade, which includes more calls
 * @param breaks properties on which candidates break that are right at the published grade, most
 *     frequent first
 */
public record Grades(int judged, int published, int general, List<Broken> breaks) {
  /** How many candidates a property breaks. */
  public record Broken(String property, int candidates) {}

  public Grades {
    breaks = List.copyOf(breaks);
  }

  /** Counts a run's candidates by grade. */
  public static Grades of(List<VerdictRow> rows) {
    Map<String, Integer> broken = new TreeMap<>();
    for (VerdictRow row : rows) row.breaks().forEach(p -> broken.merge(p, 1, Integer::sum));
    return new Grades(
        (int) rows.stream().filter(row -> row.publishedOk() != null).count(),
        (int) rows.stream().filter(row -> Objects.equals(row.publishedOk(), true)).count(),
        (int) rows.stream().filter(row -> Objects.equals(row.generalOk(), true)).count(),
        broken.entrySet().stream()
            .map(entry -> new Broken(entry.getKey(), entry.getValue()))
            .sorted(Comparator.comparingInt(Broken::candidates).reversed())
            .toList());
  }

  /** The breaks in words: {@code non_contiguous 34, dtype:float64 9}. */
  public String described() {
    return breaks.stream()
        .map(broken -> broken.property() + " " + broken.candidates())
        .collect(Collectors.joining(", "));
  }

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
      return of(
          judged.stream().<@Nullable Boolean>map(VerdictRow::general).toList(), judged.size());
    }
  }
}
