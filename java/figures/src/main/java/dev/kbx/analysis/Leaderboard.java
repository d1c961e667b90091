package dev.kbx.analysis;

import dev.kbx.analysis.Ranking.Entrant;
import dev.kbx.analysis.Ranking.Place;
import dev.kbx.analysis.Ranking.Versus;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Methods and models by what they solve of a suite, {@linkplain Ranking ranked} by tests on the
 * tasks that both tried. Shares are of the tasks that each tried.
 *
 * @param tasks number of tasks of the suite
 * @param entries best first
 */
public record Leaderboard(int tasks, List<Entry> entries) {
  /**
   * What one method and model did on one task.
   *
   * @param general number of correct samples that are right at the general grade, too; {@code
   *     timed} of those with a speedup; {@code faster} and {@code twice} of those more than 1 and 2
   *     times as fast as the baseline
   */
  public record Tried(
      MethodAndModel maker,
      String path,
      int samples,
      int correct,
      int general,
      int timed,
      int faster,
      int twice) {}

  /**
   * A method and model.
   *
   * @param rank from 1; the same for those that are not told apart
   * @param tied whether another has this rank, too
   * @param attempted number of tasks with a candidate
   * @param faster share that is correct and faster than the baseline: fast_1, null where a correct
   *     one has no speedup; {@code twice} likewise: fast_2
   * @param separatedBy the test against one that is ahead; null in the first rank
   * @param tiedWith the test against another of the rank; null if there is none
   */
  public record Entry(
      int rank,
      boolean tied,
      MethodAndModel maker,
      int attempted,
      TaskShare correct,
      TaskShare general,
      @Nullable TaskShare faster,
      @Nullable TaskShare twice,
      @Nullable Separation separatedBy,
      @Nullable Separation tiedWith) {}

  /**
   * Why two are tied, or not.
   *
   * @param p of the test on the tasks that both tried, adjusted for all pairs
   * @param tasks number of them
   */
  public record Separation(MethodAndModel from, double p, int tasks) {
    private static @Nullable Separation of(@Nullable Versus versus) {
      return versus == null ? null : new Separation(versus.other(), versus.p(), versus.tasks());
    }
  }

  /**
   * The board.
   *
   * @param tasks number of tasks of the suite; more if more were tried
   * @param timed whether speedups are against one baseline, so that they can be compared
   */
  public static Leaderboard of(List<Tried> tried, int tasks, boolean timed) {
    Set<String> paths = new HashSet<>();
    Map<MethodAndModel, List<Tried>> makers = new TreeMap<>();
    for (Tried each : tried) {
      paths.add(each.path());
      makers.computeIfAbsent(each.maker(), _ -> new ArrayList<>()).add(each);
    }
    List<Entrant> entrants = new ArrayList<>();
    makers.forEach((maker, own) -> {
      Map<String, int[]> counts = new LinkedHashMap<>();
      for (Tried each : own) counts.put(each.path(), new int[] {each.samples(), each.correct()});
      entrants.add(Entrant.of(maker, PairedTasks.Side.of(counts)));
    });
    return new Leaderboard(
        Math.max(tasks, paths.size()),
        Ranking.of(entrants).places().stream()
            .map(place -> entry(place, Objects.requireNonNull(makers.get(place.maker())), timed))
            .toList());
  }

  private static Entry entry(Place place, List<Tried> own, boolean timed) {
    boolean known =
        timed
            && own.stream().allMatch(each -> each.timed() == each.correct())
            && own.stream().anyMatch(each -> each.timed() > 0);
    return new Entry(
        place.rank(),
        place.tiedWith() != null,
        place.maker(),
        own.size(),
        place.correct(),
        share(own, Tried::general),
        known ? share(own, Tried::faster) : null,
        known ? share(own, Tried::twice) : null,
        Separation.of(place.behind()),
        Separation.of(place.tiedWith()));
  }

  private static TaskShare share(List<Tried> own, ToIntFunction<Tried> passes) {
    return TaskShare.of(
        own.stream().map(each -> new int[] {each.samples(), passes.applyAsInt(each)}).toList());
  }
}
