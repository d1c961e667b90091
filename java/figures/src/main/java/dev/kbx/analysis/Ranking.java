package dev.kbx.analysis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Methods and models by the correct samples of the tasks that they tried, best first.
 *
 * <p>Each two are compared by the {@linkplain dev.kbx.stats.PairedShares exact permutation test} on
 * the tasks that both tried, adjusted by Holm for all pairs. One is ahead of another where p is
 * below 0.05. A rank is below those of all that are ahead of it; without one it is 1. So a method
 * that tried few tasks is tied with most, however many of them it solved.
 */
public record Ranking(List<Place> places) {
  private static final double SIGNIFICANT = 0.05;

  public Ranking {
    places = List.copyOf(places);
  }

  /**
   * A method and model.
   *
   * @param rank from 1; one more than the number of those with a better one
   * @param correct share of the tasks that it tried
   * @param ahead those that it is ahead of
   * @param behind of those that are ahead of it the one with the largest p; null if none is
   * @param tiedWith another of the same rank; null if it has the rank alone
   */
  public record Place(
      MethodAndModel maker,
      int rank,
      TaskShare correct,
      List<Versus> ahead,
      @Nullable Versus behind,
      @Nullable Versus tiedWith) {}

  /**
   * The test against another.
   *
   * @param tasks number of tasks that both tried
   * @param p adjusted for all pairs
   */
  public record Versus(MethodAndModel other, int tasks, double p) {}

  /** One that is ranked. */
  record Entrant(MethodAndModel maker, PairedTasks.Side side, TaskShare correct) {
    static Entrant of(MethodAndModel maker, PairedTasks.Side side) {
      return new Entrant(maker, side, side.share());
    }
  }

  /** Those of whom nothing is known are left out. */
  static Ranking of(Map<MethodAndModel, List<VerdictRow>> makers, Outcome outcome) {
    List<Entrant> entrants = new ArrayList<>();
    makers.forEach((maker, rows) -> {
      PairedTasks.Side side = PairedTasks.Side.of(rows, outcome);
      if (side.tasks() > 0) entrants.add(Entrant.of(maker, side));
    });
    return of(entrants);
  }

  /** Those that solve more tasks come first among equals: what is tried counts, too. */
  static Ranking of(List<Entrant> unsorted) {
    List<Entrant> all =
        unsorted.stream()
            .sorted(
                Comparator.comparingDouble((Entrant each) -> -each.side().solved())
                    .thenComparing(Entrant::maker))
            .toList();
    Tests tests = Tests.of(all);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) order.add(i);
    order.sort(Comparator.comparingInt(tests::losses));
    int[] level = new int[all.size()];
    for (int i = 0; i < order.size(); i++) {
      int own = order.get(i);
      for (int other : order.subList(0, i)) {
        if (tests.isAhead(other, own)) level[own] = Math.max(level[own], level[other] + 1);
      }
    }
    order.sort(Comparator.<Integer>comparingInt(i -> level[i]).thenComparingInt(i -> i));
    return new Ranking(order.stream().map(i -> place(i, all, order, level, tests)).toList());
  }

  private static Place place(
      int own, List<Entrant> all, List<Integer> order, int[] level, Tests tests) {
    int better = (int) order.stream().filter(other -> level[other] < level[own]).count();
    Versus behind =
        order.stream()
            .filter(other -> level[other] < level[own] && tests.isAhead(other, own))
            .map(other -> tests.versus(own, other))
            .max(Comparator.comparingDouble(Versus::p))
            .orElse(null);
    Versus tied =
        order.stream()
            .filter(other -> other != own && level[other] == level[own])
            .findFirst()
            .map(other -> tests.versus(own, other))
            .orElse(null);
    Entrant entrant = all.get(own);
    List<Versus> ahead =
        order.stream()
            .filter(other -> other != own && tests.isAhead(own, other))
            .map(other -> tests.versus(own, other))
            .toList();
    return new Place(entrant.maker(), better + 1, entrant.correct(), ahead, behind, tied);
  }

  /** The test of each two, by their numbers, the smaller first. */
  private record Tests(
      List<Entrant> all, List<List<PairedTasks>> pairs, Map<PairedTasks, Double> adjusted) {
    static Tests of(List<Entrant> all) {
      List<List<PairedTasks>> pairs = new ArrayList<>();
      for (int i = 0; i < all.size(); i++) {
        Entrant one = all.get(i);
        pairs.add(
            all.subList(i + 1, all.size()).stream()
                .map(later -> PairedTasks.of(one.side(), later.side()))
                .toList());
      }
      List<PairedTasks> each = pairs.stream().flatMap(List::stream).toList();
      return new Tests(all, pairs, PairedTasks.corrected(each));
    }

    boolean isAhead(int first, int second) {
      PairedTasks pair = pair(first, second);
      Double difference = pair.difference();
      return difference != null
          && p(pair) < SIGNIFICANT
          && (first < second ? difference < 0 : difference > 0);
    }

    int losses(int own) {
      int losses = 0;
      for (int i = 0; i < all.size(); i++) if (i != own && isAhead(i, own)) losses++;
      return losses;
    }

    Versus versus(int own, int other) {
      PairedTasks pair = pair(own, other);
      return new Versus(all.get(other).maker(), pair.tasks(), p(pair));
    }

    private PairedTasks pair(int first, int second) {
      int least = Math.min(first, second);
      return pairs.get(least).get(Math.max(first, second) - least - 1);
    }

    private double p(PairedTasks pair) {
      return Objects.requireNonNull(adjusted.get(pair));
    }
  }
}
