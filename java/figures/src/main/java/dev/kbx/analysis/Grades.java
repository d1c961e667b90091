package dev.kbx.analysis;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

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
}
