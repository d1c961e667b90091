package dev.kbx.check;

import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Collects findings, each once. */
final class Findings {
  private static final Comparator<Finding> BY_PLACE =
      Comparator.<Finding>comparingInt(f -> f.place().line())
          .thenComparingInt(f -> f.place().column())
          .thenComparing(Finding::rule);

  private final Set<Finding> found = new LinkedHashSet<>();

  void add(Finding finding) {
    found.add(finding);
  }

  int size() {
    return found.size();
  }

  List<Finding> inOrder() {
    return found.stream().sorted(BY_PLACE).toList();
  }
}
