package dev.kbx.report;

import dev.kbx.analysis.VerdictRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What addresses call the candidates of a page: {@code Math/exp#1}, with method and model if there
 * are several of them, and the round if it is stated. No two candidates have the same name.
 */
final class Anchors {
  private final boolean several;
  private final Set<String> used = new HashSet<>();
  private final Map<String, Integer> repeated = new HashMap<>();

  private Anchors(boolean several) {
    this.several = several;
  }

  /** Names of rows, in their order. */
  static List<String> of(List<VerdictRow> rows) {
    Anchors anchors = new Anchors(rows.stream().map(Anchors::maker).distinct().count() > 1);
    List<String> names = new ArrayList<>(rows.size());
    for (VerdictRow row : rows) names.add(anchors.unique(anchors.name(row)));
    return names;
  }

  private String name(VerdictRow row) {
    String made = several ? "@" + maker(row) : "";
    return row.name() + made + (row.round() == null ? "" : ",round " + row.round());
  }

  private String unique(String name) {
    String free = name;
    while (!used.add(free)) free = name + " (" + (repeated.merge(name, 1, Integer::sum) + 1) + ")";
    return free;
  }

  private static String maker(VerdictRow row) {
    return Stream.of(row.method(), row.model())
        .filter(Objects::nonNull)
        .collect(Collectors.joining(" "));
  }
}
