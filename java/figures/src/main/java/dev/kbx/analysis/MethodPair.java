package dev.kbx.analysis;

import dev.kbx.stats.Holm;
import dev.kbx.stats.McNemar;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Two methods on the same tasks, by McNemar's exact test. A task counts once, with the first sample
 * of each, as more samples would be an advantage.
 *
 * @param counts of the tasks that both have
 * @param holm p, adjusted for all pairs of one outcome
 * @param categories the same tasks by category, p adjusted for the categories of this pair
 */
public record MethodPair(
    Outcome outcome,
    MethodAndModel first,
    MethodAndModel second,
    Counts counts,
    TaskOutcomes.Test mcnemar,
    double holm,
    List<OfCategory> categories) {

  /** Tasks by who passes. */
  public record Counts(int tasks, int both, int onlyFirst, int onlySecond, int neither) {
    McNemar test() {
      return new McNemar(onlyFirst, onlySecond);
    }
  }

  /** The tasks of one category. */
  public record OfCategory(String category, Counts counts, double p, double holm) {}

  /** Each two methods, in order; none if there is one. */
  static List<MethodPair> of(Map<MethodAndModel, List<VerdictRow>> makers, List<Outcome> outcomes) {
    List<MethodAndModel> all = List.copyOf(makers.keySet());
    List<Map<String, VerdictRow>> firsts =
        makers.values().stream().map(MethodPair::firstSamples).toList();
    return outcomes.parallelStream().flatMap(outcome -> of(outcome, all, firsts).stream()).toList();
  }

  private static List<MethodPair> of(
      Outcome outcome, List<MethodAndModel> all, List<Map<String, VerdictRow>> firsts) {
    List<MethodPair> pairs = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      for (int j = i + 1; j < all.size(); j++) {
        pairs.add(of(outcome, all.get(i), all.get(j), firsts.get(i), firsts.get(j)));
      }
    }
    double[] adjusted =
        Holm.adjust(pairs.stream().mapToDouble(pair -> pair.mcnemar().pValue()).toArray());
    List<MethodPair> corrected = new ArrayList<>();
    for (int i = 0; i < adjusted.length; i++) {
      corrected.add(pairs.get(i).adjusted(adjusted[i]));
    }
    return corrected;
  }

  private MethodPair adjusted(double p) {
    return new MethodPair(outcome, first, second, counts, mcnemar, p, categories);
  }

  /** By task; rows are sorted by sample. */
  static Map<String, VerdictRow> firstSamples(List<VerdictRow> rows) {
    Map<String, VerdictRow> firsts = new LinkedHashMap<>();
    for (VerdictRow row : rows) firsts.putIfAbsent(row.path(), row);
    return firsts;
  }

  private static MethodPair of(
      Outcome outcome,
      MethodAndModel first,
      MethodAndModel second,
      Map<String, VerdictRow> left,
      Map<String, VerdictRow> right) {
    Map<String, int[]> categories = new TreeMap<>();
    Counts counts = count(outcome, left, right, categories);
    return new MethodPair(
        outcome,
        first,
        second,
        counts,
        TaskOutcomes.Test.of(counts.test()),
        1,
        byCategory(categories));
  }

  /** Counts the tasks that both have, with a known outcome. */
  static Counts count(
      Outcome outcome, Map<String, VerdictRow> left, Map<String, VerdictRow> right) {
    return count(outcome, left, right, new TreeMap<>());
  }

  private static Counts count(
      Outcome outcome,
      Map<String, VerdictRow> left,
      Map<String, VerdictRow> right,
      Map<String, int[]> categories) {
    int[] all = new int[4];
    left.forEach((path, row) -> {
      @Nullable VerdictRow other = right.get(path);
      if (other == null) return;
      Boolean one = outcome.of(row);
      Boolean two = outcome.of(other);
      if (one == null || two == null) return;
      int which = one ? (two ? 0 : 1) : (two ? 2 : 3);
      all[which]++;
      categories.computeIfAbsent(row.category(), _ -> new int[4])[which]++;
    });
    return counts(all);
  }

  private static Counts counts(int[] by) {
    return new Counts(by[0] + by[1] + by[2] + by[3], by[0], by[1], by[2], by[3]);
  }

  private static List<OfCategory> byCategory(Map<String, int[]> categories) {
    List<String> names = List.copyOf(categories.keySet());
    List<Counts> counts = categories.values().stream().map(MethodPair::counts).toList();
    double[] p = counts.stream().mapToDouble(each -> each.test().pValue()).toArray();
    double[] holm = Holm.adjust(p);
    List<OfCategory> all = new ArrayList<>();
    for (int i = 0; i < p.length; i++) {
      all.add(new OfCategory(names.get(i), counts.get(i), p[i], holm[i]));
    }
    return all;
  }
}
