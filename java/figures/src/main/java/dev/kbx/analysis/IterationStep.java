package dev.kbx.analysis;

import dev.kbx.stats.McNemar;
import dev.kbx.verdict.NoiseFloor;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * From one round to the next.
 *
 * @param both attempts with a judged candidate in both rounds: the sum of the next four counts
 * @param endedCorrect attempts without a candidate in the second round, correct in the first
 * @param endedWrong the same, wrong in the first
 * @param notJudged attempts of which kbx could not judge one of both rounds
 * @param mcnemar on the first of these attempts at each task, as tasks count once
 * @param speed null if no correct candidate of either round is timed
 */
public record IterationStep(
    int from,
    int to,
    int both,
    int rescued,
    int regressed,
    int persistent,
    int unresolved,
    int endedCorrect,
    int endedWrong,
    int notJudged,
    TaskOutcomes.Test mcnemar,
    @Nullable IterationSpeed speed) {

  static IterationStep of(
      Map<Attempt, Map<Integer, VerdictRow>> attempts,
      Map<Attempt, Set<Integer>> unjudged,
      int from,
      int to,
      List<NoiseFloor> floors) {
    Map<Transition, List<Pairs.Pair>> pairs = new EnumMap<>(Transition.class);
    List<VerdictRow> ended = new ArrayList<>();
    Map<Transition, Integer> firsts = new EnumMap<>(Transition.class);
    Set<String> tasks = new HashSet<>();
    int notJudged = 0;
    for (var each : attempts.entrySet()) {
      VerdictRow then = each.getValue().get(from);
      VerdictRow now = each.getValue().get(to);
      if (then == null || now == null) {
        Set<Integer> missing = unjudged.getOrDefault(each.getKey(), Set.of());
        if (missing.contains(then == null ? from : to)) notJudged++;
        else if (then != null) ended.add(then);
        continue;
      }
      Transition change = Transition.of(Iterations.isCorrect(then), Iterations.isCorrect(now));
      if (tasks.add(now.path())) firsts.merge(change, 1, Integer::sum);
      pairs.computeIfAbsent(change, _ -> new ArrayList<>()).add(new Pairs.Pair(then, now));
    }
    int stopped = (int) ended.stream().filter(Iterations::isCorrect).count();
    return new IterationStep(
        from,
        to,
        pairs.values().stream().mapToInt(List::size).sum(),
        count(pairs, Transition.RESCUED),
        count(pairs, Transition.REGRESSED),
        count(pairs, Transition.PERSISTENT),
        count(pairs, Transition.UNRESOLVED),
        stopped,
        ended.size() - stopped,
        notJudged,
        TaskOutcomes.Test.of(
            new McNemar(
                firsts.getOrDefault(Transition.REGRESSED, 0),
                firsts.getOrDefault(Transition.RESCUED, 0))),
        IterationSpeed.of(pairs, floors));
  }

  private static int count(Map<Transition, List<Pairs.Pair>> pairs, Transition change) {
    return pairs.getOrDefault(change, List.of()).size();
  }
}
