package dev.kbx.analysis;

import dev.kbx.stats.Design;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The factors of a joint model with the counts of each combination of their levels that occurs.
 *
 * @param levels level by factor and cell
 * @param pair the factors of the interaction; null if there is none
 */
record JointFactors(
    List<Factor> factors, CellCounts counts, List<int[]> levels, @Nullable Pair pair) {
  /** More coefficients of an interaction take long and say little. */
  private static final int MOST_COMBINATIONS = 150;

  /** Indices of two factors. */
  record Pair(int first, int second) {
    boolean has(int factor) {
      return factor == first || factor == second;
    }
  }

  static JointFactors of(List<Factor> factors, Trials trials) {
    Map<List<Integer>, Integer> numbers = new HashMap<>();
    int[] cellOf = new int[trials.count()];
    for (int i = 0; i < cellOf.length; i++) {
      int row = trials.row(i);
      List<Integer> combination = factors.stream().map(factor -> factor.level(row)).toList();
      cellOf[i] = numbers.computeIfAbsent(combination, _ -> numbers.size());
    }
    List<int[]> levels = factors.stream().map(_ -> new int[numbers.size()]).toList();
    numbers.forEach((combination, cell) -> {
      for (int i = 0; i < factors.size(); i++) levels.get(i)[cell] = combination.get(i);
    });
    CellCounts counts = CellCounts.of(trials, numbers.size(), i -> cellOf[i]);
    return new JointFactors(factors, counts, levels, pair(factors, levels));
  }

  /** The first factor of tasks and the first of attempts, if all their combinations occur. */
  private static @Nullable Pair pair(List<Factor> factors, List<int[]> levels) {
    for (int i = 0; i < factors.size(); i++) {
      for (int j = i + 1; j < factors.size(); j++) {
        if (!factors.get(i).ofTasks() || factors.get(j).ofTasks()) continue;
        int[] first = levels.get(i);
        int[] second = levels.get(j);
        int many = factors.get(j).levels().size();
        int combinations = factors.get(i).levels().size() * many;
        long occurring =
            IntStream.range(0, first.length)
                .map(cell -> first[cell] * many + second[cell])
                .distinct()
                .count();
        if (occurring == combinations && combinations <= MOST_COMBINATIONS) return new Pair(i, j);
      }
    }
    return null;
  }

  /** All main effects, in treatment coding. */
  Design all() {
    return without(-1);
  }

  /** All but one; all for −1. */
  Design without(int left) {
    return over(IntStream.range(0, counts.cells()).toArray(), left);
  }

  /**
   * All but one.
   *
   * @param cells the cell of each row of the design
   */
  Design over(int[] cells, int left) {
    Design design = Design.intercept(cells.length);
    for (int i = 0; i < factors.size(); i++) {
      int[] own = levels.get(i);
      int[] column = IntStream.of(cells).map(cell -> own[cell]).toArray();
      if (i != left) design = design.with(column, factors.get(i).levels().size());
    }
    return design;
  }

  /** All main effects but one, and the interaction, in sum coding. */
  Design withPair(int left) {
    if (pair == null) throw new IllegalStateException("no interaction");
    Design design = Design.intercept(counts.cells());
    for (int i = 0; i < factors.size(); i++) {
      if (i != left) design = design.withSums(levels.get(i), factors.get(i).levels().size());
    }
    return design.withInteraction(
        levels.get(pair.first()),
        factors.get(pair.first()).levels().size(),
        levels.get(pair.second()),
        factors.get(pair.second()).levels().size());
  }
}
