package dev.kbx.analysis;

import dev.kbx.stats.Quantile;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.NoiseFloor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Speed from one round to the next, of the attempts with a candidate in both. A mean over the
 * correct candidates of a round also moves because others are correct; so persistent attempts are
 * matched with themselves, and a candidate with the same source in both rounds never counts as a
 * change: what its speedup moves by is noise.
 *
 * @param rescued level of those that became correct, in the later round
 * @param persistent level of those that are correct in both, in the later round
 * @param then level of all correct in the earlier round
 * @param now level of all correct in the later round
 * @param change geometric mean of now ÷ then over persistent attempts, sources unchanged or not
 * @param composition {@code now ÷ then} of the geometric means over that: because others are
 *     correct
 * @param matched persistent attempts timed in both rounds over the same sizes, on one device,
 *     against one baseline, or with two published speedups
 * @param unmatched the other persistent attempts that are timed
 * @param identical matched attempts with the same source in both rounds
 * @param floor 95 % of these move by less, 0.01 for 1 %; null without any
 * @param increases matched attempts with a larger speedup, by however little
 * @param identicalIncreases those of them with the same source
 * @param largest largest relative gain of a source that changed, 0.01 for 1 %; null if none gained
 * @param gains changed sources by least gain: how many gain so much
 * @param faster changed sources that are faster, beyond the intervals and the floors
 * @param slower the same, slower
 * @param changed geometric mean of now ÷ then of changed sources, with its interval; null without
 *     any
 * @param asPublished matched attempts whose speedups are as published: without intervals and sizes,
 *     none of them is faster or slower
 */
public record IterationSpeed(
    @Nullable Means rescued,
    @Nullable Means persistent,
    @Nullable Means then,
    @Nullable Means now,
    @Nullable Double change,
    @Nullable Double composition,
    int matched,
    int unmatched,
    int identical,
    @Nullable Double floor,
    int increases,
    int identicalIncreases,
    @Nullable Double largest,
    Map<String, Integer> gains,
    int faster,
    int slower,
    Portability.@Nullable Mean changed,
    int asPublished) {
  private static final double MOST = 0.95;

  private record Change(SpeedChange measured, double value, boolean same) {}

  /** Null if nothing is timed. */
  static @Nullable IterationSpeed of(
      Map<Transition, List<Pairs.Pair>> pairs, List<NoiseFloor> floors) {
    List<Pairs.Pair> rescued = pairs.getOrDefault(Transition.RESCUED, List.of());
    List<Pairs.Pair> regressed = pairs.getOrDefault(Transition.REGRESSED, List.of());
    List<Pairs.Pair> persistent = pairs.getOrDefault(Transition.PERSISTENT, List.of());
    Means then = level(Stream.concat(persistent.stream(), regressed.stream()), false);
    Means now = level(Stream.concat(persistent.stream(), rescued.stream()), true);
    if (then == null && now == null) return null;
    List<Change> changes = new ArrayList<>();
    int unmatched = 0;
    for (Pairs.Pair pair : persistent) {
      SpeedChange change = SpeedChange.of(pair.then(), pair.now(), floors);
      if (change == null) continue;
      Double value = change.value();
      if (value == null) unmatched++;
      else changes.add(new Change(change, value, pair.sameSource()));
    }
    Double floor = floor(changes);
    List<Change> others = changes.stream().filter(each -> !each.same()).toList();
    Double mean = changes.isEmpty() ? null : Ratio.geometricMean(values(changes));
    return new IterationSpeed(
        level(rescued.stream(), true),
        level(persistent.stream(), true),
        then,
        now,
        mean,
        mean == null || then == null || now == null || unmatched > 0
            ? null
            : now.geometric() / then.geometric() / mean,
        changes.size(),
        unmatched,
        changes.size() - others.size(),
        floor,
        increases(changes),
        increases(changes) - increases(others),
        largest(others),
        Map.of(
            "1%", gaining(others, 1.01), "5%", gaining(others, 1.05), "10%", gaining(others, 1.1)),
        differing(others, SpeedChange.Outcome.FASTER, floor),
        differing(others, SpeedChange.Outcome.SLOWER, floor),
        others.isEmpty() ? null : Portability.Mean.of(values(others)),
        (int)
            changes.stream()
                .filter(change -> change.measured().outcome() == SpeedChange.Outcome.AS_PUBLISHED)
                .count());
  }

  private static @Nullable Means level(Stream<Pairs.Pair> pairs, boolean later) {
    return Means.of(
        Iterations.speedups(pairs.map(pair -> later ? pair.now() : pair.then()).toList()));
  }

  private static @Nullable Double floor(List<Change> changes) {
    double[] moves =
        changes.stream()
            .filter(Change::same)
            .mapToDouble(change -> Math.abs(Math.log(change.value())))
            .toArray();
    return moves.length == 0 ? null : Math.expm1(Quantile.of(moves, MOST));
  }

  private static double[] values(List<Change> changes) {
    return changes.stream().mapToDouble(Change::value).toArray();
  }

  private static int increases(List<Change> changes) {
    return (int) changes.stream().filter(change -> change.value() > 1).count();
  }

  private static int gaining(List<Change> changes, double least) {
    return (int) changes.stream().filter(change -> change.value() >= least).count();
  }

  private static @Nullable Double largest(List<Change> changes) {
    double largest = changes.stream().mapToDouble(Change::value).max().orElse(1);
    return largest > 1 ? largest - 1 : null;
  }

  private static int differing(
      List<Change> changes, SpeedChange.Outcome outcome, @Nullable Double floor) {
    double least = floor == null ? 0 : Math.log1p(floor);
    return (int)
        changes.stream()
            .filter(change -> change.measured().outcome() == outcome)
            .filter(change -> Math.abs(Math.log(change.value())) > least)
            .count();
  }
}
