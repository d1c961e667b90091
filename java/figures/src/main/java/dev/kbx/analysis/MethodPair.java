package dev.kbx.analysis;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Two methods on the same tasks.
 *
 * @param compared the tasks that both have
 * @param holm p, corrected for all pairs, their categories and {@linkplain Ablation ablations} of
 *     one outcome
 * @param categories the same tasks by category
 */
public record MethodPair(
    Outcome outcome,
    MethodAndModel first,
    MethodAndModel second,
    PairedTasks compared,
    double holm,
    List<OfCategory> categories) {

  /**
   * The tasks of one category.
   *
   * @param holm as that of the pair
   */
  public record OfCategory(String category, PairedTasks compared, double holm) {}

  /** Each two methods, in order, not corrected yet; none if there is one. */
  static List<MethodPair> of(Map<MethodAndModel, List<VerdictRow>> makers, Outcome outcome) {
    List<MethodAndModel> all = List.copyOf(makers.keySet());
    List<PairedTasks.Side> sides =
        makers.values().stream().map(rows -> PairedTasks.Side.of(rows, outcome)).toList();
    List<MethodPair> pairs = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      for (int j = i + 1; j < all.size(); j++) {
        pairs.add(of(outcome, all.get(i), all.get(j), sides.get(i), sides.get(j)));
      }
    }
    return pairs;
  }

  private static MethodPair of(
      Outcome outcome,
      MethodAndModel first,
      MethodAndModel second,
      PairedTasks.Side left,
      PairedTasks.Side right) {
    return new MethodPair(
        outcome,
        first,
        second,
        PairedTasks.of(left, right),
        1,
        left.categories(right).stream()
            .map(name -> new OfCategory(name, PairedTasks.of(left, right, name), 1))
            .toList());
  }

  /** All that it tests. A single category has the same tasks. */
  Stream<PairedTasks> tests() {
    if (categories.size() == 1) return Stream.of(compared);
    return Stream.concat(Stream.of(compared), categories.stream().map(OfCategory::compared));
  }

  /**
   * With corrected p.
   *
   * @param holm of each test
   */
  MethodPair corrected(Map<PairedTasks, Double> holm) {
    return new MethodPair(
        outcome,
        first,
        second,
        compared,
        Objects.requireNonNull(holm.get(compared)),
        categories.stream()
            .map(each ->
                new OfCategory(
                    each.category(),
                    each.compared(),
                    Objects.requireNonNull(holm.get(each.compared()))))
            .toList());
  }
}
