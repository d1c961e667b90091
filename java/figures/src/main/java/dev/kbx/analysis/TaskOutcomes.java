package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.stats.McNemar;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Tasks of two runs by outcome. A task counts once, as right if one of its candidates is. Both runs
 * contribute equally many candidates, as more attempts would be an advantage: the task's {@link
 * Pairs}, or without judged pairs the first samples of one method and model.
 *
 * @param compared tasks judged in both runs: the sum of the four counts
 * @param unevenTries tasks of which one run has more candidates; the surplus is ignored
 * @param notJudged tasks in both runs without a judged candidate in one of them, or without judged
 *     ones of a common method and model
 * @param onlyThen tasks only in the first run
 */
public record TaskOutcomes(
    int compared,
    int rescued,
    int regressed,
    int persistent,
    int unresolved,
    int unevenTries,
    int notJudged,
    int onlyThen,
    int onlyNow,
    Test mcnemar) {

  /**
   * {@link McNemar} on these tasks.
   *
   * @param oddsRatio rescued ÷ regressed; null if nothing regressed
   * @param low lower end of its exact 95 % interval
   * @param high null if unbounded
   */
  public record Test(double pValue, @Nullable Double oddsRatio, double low, @Nullable Double high) {
    static Test of(McNemar test) {
      return new Test(test.pValue(), finite(test.oddsRatio()), test.low(), finite(test.high()));
    }

    private static @Nullable Double finite(double value) {
      return Double.isFinite(value) ? value : null;
    }
  }

  private record Task(String suite, String category, String name) {
    static Task of(VerdictRow v) {
      return new Task(v.suite(), v.category(), v.task());
    }
  }

  static TaskOutcomes of(List<VerdictRow> then, List<VerdictRow> now, Pairs pairs) {
    Map<Task, List<VerdictRow>> first = byTask(then);
    Map<Task, List<VerdictRow>> second = byTask(now);
    Set<Task> both = new LinkedHashSet<>(first.keySet());
    both.retainAll(second.keySet());
    Map<Task, List<Pairs.Pair>> pairsOf =
        pairs.pairs().stream()
            .filter(pair -> pair.then().judged() && pair.now().judged())
            .collect(Collectors.groupingBy(pair -> Task.of(pair.now())));
    Map<Transition, Integer> counts = new EnumMap<>(Transition.class);
    boolean alike = Pairs.areOfOneMaker(then, now);
    int notJudged = 0;
    int uneven = 0;
    for (Task task : both) {
      List<VerdictRow> before = judged(first.getOrDefault(task, List.of()));
      List<VerdictRow> after = judged(second.getOrDefault(task, List.of()));
      List<Pairs.Pair> paired = pairsOf.getOrDefault(task, List.of());
      List<Pairs.Pair> tries = paired.isEmpty() ? firstBySample(before, after, alike) : paired;
      if (tries.isEmpty()) {
        notJudged++;
        continue;
      }
      if (tries.size() < Math.max(before.size(), after.size())) uneven++;
      counts.merge(
          Transition.of(
              tries.stream().anyMatch(pair -> isRight(pair.then())),
              tries.stream().anyMatch(pair -> isRight(pair.now()))),
          1,
          Integer::sum);
    }
    int rescued = counts.getOrDefault(Transition.RESCUED, 0);
    int regressed = counts.getOrDefault(Transition.REGRESSED, 0);
    return new TaskOutcomes(
        both.size() - notJudged,
        rescued,
        regressed,
        counts.getOrDefault(Transition.PERSISTENT, 0),
        counts.getOrDefault(Transition.UNRESOLVED, 0),
        uneven,
        notJudged,
        first.size() - both.size(),
        second.size() - both.size(),
        Test.of(new McNemar(regressed, rescued)));
  }

  private static Map<Task, List<VerdictRow>> byTask(List<VerdictRow> verdicts) {
    return Tally.sorted(verdicts).stream()
        .collect(Collectors.groupingBy(Task::of, LinkedHashMap::new, Collectors.toList()));
  }

  private static List<VerdictRow> judged(List<VerdictRow> verdicts) {
    return verdicts.stream().filter(VerdictRow::judged).toList();
  }

  private static boolean isRight(VerdictRow verdict) {
    return verdict.correct();
  }

  /** Equally many of each run, of the first common method and model; of any if they are alike. */
  private static List<Pairs.Pair> firstBySample(
      List<VerdictRow> then, List<VerdictRow> now, boolean alike) {
    if (alike) return zipped(then, now);
    Map<MethodAndModel, List<VerdictRow>> before = MethodAndModel.group(then);
    Map<MethodAndModel, List<VerdictRow>> after = MethodAndModel.group(now);
    return before.entrySet().stream()
        .filter(own -> after.containsKey(own.getKey()))
        .findFirst()
        .map(own -> zipped(own.getValue(), after.getOrDefault(own.getKey(), List.of())))
        .orElse(List.of());
  }

  private static List<Pairs.Pair> zipped(List<VerdictRow> then, List<VerdictRow> now) {
    return IntStream.range(0, Math.min(then.size(), now.size()))
        .mapToObj(i -> new Pairs.Pair(then.get(i), now.get(i)))
        .toList();
  }

  /** Change in the outcome of a task or candidate from one run to the next. */
  public enum Transition {
    /** Wrong, then right. */
    RESCUED,
    /** Right, then wrong. */
    REGRESSED,
    /** Right, then right. */
    PERSISTENT,
    /** Wrong, then wrong. */
    UNRESOLVED;

    static Transition of(boolean rightThen, boolean rightNow) {
      if (rightThen) return rightNow ? PERSISTENT : REGRESSED;
      return rightNow ? RESCUED : UNRESOLVED;
    }

    /** The name in files and on terminals: {@code rescued, …}. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
