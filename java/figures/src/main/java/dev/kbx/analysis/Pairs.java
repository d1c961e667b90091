package dev.kbx.analysis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Pairs the candidates of two runs: by task and source; else by task, method, model and sample,
 * preferably of the same round. If each run has a single method and model, these may differ.
 *
 * @param pairs by category, task and sample
 * @param onlyThen unpaired candidates of the first run
 */
record Pairs(List<Pair> pairs, List<VerdictRow> onlyThen, List<VerdictRow> onlyNow) {

  /** One candidate of each run. */
  record Pair(VerdictRow then, VerdictRow now) {
    boolean sameSource() {
      return !then.candidate().isEmpty() && then.candidate().equals(now.candidate());
    }
  }

  static Pairs of(List<VerdictRow> then, List<VerdictRow> now) {
    boolean alike = areOfOneMaker(then, now);
    List<Function<VerdictRow, List<@Nullable Object>>> keys =
        List.of(
            v -> key(v, code(v), v.sample()),
            v -> key(v, code(v)),
            v -> key(v, MethodAndModel.of(v), v.round(), v.sample()),
            v -> key(v, alike ? null : MethodAndModel.of(v), v.sample()));
    List<Pair> pairs = new ArrayList<>();
    List<VerdictRow> first = Tally.sorted(then);
    List<VerdictRow> second = Tally.sorted(now);
    for (Function<VerdictRow, List<@Nullable Object>> key : keys) {
      Map<List<@Nullable Object>, Deque<VerdictRow>> free = new HashMap<>();
      second.forEach(v -> free.computeIfAbsent(key.apply(v), _ -> new ArrayDeque<>()).add(v));
      List<VerdictRow> left = new ArrayList<>();
      for (VerdictRow verdict : first) {
        VerdictRow partner = free.getOrDefault(key.apply(verdict), new ArrayDeque<>()).poll();
        if (partner == null) left.add(verdict);
        else pairs.add(new Pair(verdict, partner));
      }
      first = left;
      second = Tally.sorted(free.values().stream().flatMap(Deque::stream).toList());
    }
    pairs.sort(
        Comparator.comparing((Pair pair) -> pair.then().category())
            .thenComparing(pair -> pair.then().task())
            .thenComparingInt(pair -> pair.then().sample()));
    return new Pairs(List.copyOf(pairs), first, second);
  }

  /** The source; of a result that was published without one it is like no other. */
  private static Object code(VerdictRow v) {
    return v.candidate().isEmpty() ? v : v.candidate();
  }

  private static List<@Nullable Object> key(VerdictRow v, @Nullable Object... parts) {
    List<@Nullable Object> key = new ArrayList<>(List.of(v.suite(), v.category(), v.task()));
    key.addAll(Arrays.asList(parts));
    return key;
  }

  /** Whether each run has a single method and model, which are what is compared. */
  static boolean areOfOneMaker(List<VerdictRow> then, List<VerdictRow> now) {
    return Stream.of(then, now)
        .allMatch(rows -> rows.stream().map(MethodAndModel::of).distinct().count() <= 1);
  }
}
