package dev.kbx.analysis;

import dev.kbx.stats.Holm;
import dev.kbx.stats.McNemar;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Methods and models by the share of a suite's tasks that they solve, with ties where the data do
 * not tell them apart.
 *
 * <p>A task without a candidate counts as not solved, for each alike. Two are tied if McNemar's
 * exact test on all tasks, adjusted by Holm for all pairs of the board, has p of 0.05 or more. The
 * test is about one try a task: where one of the two has tasks with several samples, they are tied
 * if their 95 % intervals overlap. Ties are not transitive, so a rank is shared by those that are
 * tied with the first of it.
 *
 * @param tasks number of tasks of the suite, the denominator of all shares
 * @param entries best first
 */
public record Leaderboard(int tasks, List<Entry> entries) {
  private static final double SIGNIFICANT = 0.05;

  /**
   * What one method and model did on one task.
   *
   * @param first whether its first sample is correct
   * @param general number of correct samples that are right at the general grade, too; {@code
   *     timed} of those with a speedup; {@code faster} and {@code twice} of those more than 1 and 2
   *     times as fast as the baseline
   */
  public record Tried(
      MethodAndModel maker,
      String path,
      int samples,
      int correct,
      boolean first,
      int general,
      int timed,
      int faster,
      int twice) {}

  /**
   * A method and model.
   *
   * @param rank from 1; the same for those that are tied with the first of a rank
   * @param tied whether another has this rank, too
   * @param attempted number of tasks with a candidate
   * @param separatedBy how it was told apart from the first of the rank before; null in the first
   *     rank
   * @param faster share that is correct and faster than the baseline: fast_1, null where a correct
   *     one has no speedup; {@code twice} likewise: fast_2
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
      @Nullable Separation separatedBy) {}

  /**
   * Why two are not tied.
   *
   * @param p of McNemar's test, adjusted; null where intervals decided
   */
  public record Separation(MethodAndModel from, @Nullable Double p) {}

  /** One of the board before ranks. */
  private record Own(MethodAndModel maker, List<Tried> tried, TaskShare correct) {
    boolean once() {
      return tried.stream().allMatch(each -> each.samples() == 1);
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
    int asked = Math.max(tasks, paths.size());
    List<Own> sorted = new ArrayList<>();
    makers.forEach(
        (maker, own) -> sorted.add(new Own(maker, own, share(own, asked, Tried::correct))));
    sorted.sort(
        Comparator.comparingDouble((Own own) -> -own.correct().value()).thenComparing(Own::maker));
    return new Leaderboard(asked, ranked(sorted, asked, timed));
  }

  private static List<Entry> ranked(List<Own> sorted, int asked, boolean timed) {
    double[][] p = tests(sorted);
    int[] firsts = new int[sorted.size()];
    for (int i = 1; i < firsts.length; i++) {
      int first = firsts[i - 1];
      firsts[i] = isTied(sorted.get(first), sorted.get(i), p[first][i]) ? first : i;
    }
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < firsts.length; i++) {
      int first = firsts[i];
      boolean tied = (i + 1 < firsts.length && firsts[i + 1] == first) || first < i;
      Separation separation = null;
      if (first > 0) {
        int before = firsts[first - 1];
        double value = p[before][first];
        separation =
            new Separation(sorted.get(before).maker(), Double.isNaN(value) ? null : (Double) value);
      }
      entries.add(entry(sorted.get(i), first + 1, tied, asked, timed, separation));
    }
    return entries;
  }

  private static Entry entry(
      Own own, int rank, boolean tied, int asked, boolean timed, @Nullable Separation separation) {
    boolean known =
        timed
            && own.tried().stream().allMatch(each -> each.timed() == each.correct())
            && own.tried().stream().anyMatch(each -> each.timed() > 0);
    return new Entry(
        rank,
        tied,
        own.maker(),
        own.tried().size(),
        own.correct(),
        share(own.tried(), asked, Tried::general),
        known ? share(own.tried(), asked, Tried::faster) : null,
        known ? share(own.tried(), asked, Tried::twice) : null,
        separation);
  }

  private static TaskShare share(List<Tried> own, int asked, ToIntFunction<Tried> passes) {
    return TaskShare.of(
        own.stream().map(each -> new int[] {each.samples(), passes.applyAsInt(each)}).toList(),
        asked);
  }

  /** Adjusted p of each pair, the first before the second; NaN where intervals decide. */
  private static double[][] tests(List<Own> all) {
    double[][] p = new double[all.size()][all.size()];
    List<int[]> pairs = new ArrayList<>();
    for (int i = 0; i < p.length; i++) {
      for (int j = i + 1; j < p.length; j++) {
        if (all.get(i).once() && all.get(j).once()) pairs.add(new int[] {i, j});
        else p[i][j] = Double.NaN;
      }
    }
    double[] adjusted =
        Holm.adjust(
            pairs.stream().mapToDouble(pair -> p(all.get(pair[0]), all.get(pair[1]))).toArray());
    for (int k = 0; k < adjusted.length; k++) p[pairs.get(k)[0]][pairs.get(k)[1]] = adjusted[k];
    return p;
  }

  private static double p(Own one, Own other) {
    Map<String, Boolean> right = new HashMap<>();
    for (Tried each : one.tried()) right.put(each.path(), each.first());
    int onlyOther = 0;
    int both = 0;
    for (Tried each : other.tried()) {
      if (!each.first()) continue;
      if (Objects.equals(right.get(each.path()), true)) both++;
      else onlyOther++;
    }
    int all = (int) one.tried().stream().filter(Tried::first).count();
    return new McNemar(all - both, onlyOther).pValue();
  }

  private static boolean isTied(Own better, Own worse, double p) {
    if (!Double.isNaN(p)) return p >= SIGNIFICANT;
    return better.correct().low() <= worse.correct().high();
  }
}
