package dev.kbx.analysis;

import dev.kbx.stats.Bootstrap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one method with one model spends for a solved task: all that it spent, on tasks that it did
 * not solve, too, divided by the tasks with an answer that is correct in the final judgement.
 *
 * @param tasks with a final judgement; others are left out
 * @param solved of them
 * @param amounts one of each kind, in the order of {@link BudgetCurve.Kind}
 */
public record CostPerSolved(
    String method, String model, int tasks, int solved, List<Amount> amounts) {
  public CostPerSolved {
    amounts = List.copyOf(amounts);
  }

  /**
   * The cost of one kind.
   *
   * @param unknown why there is none; null if there is one, or nothing was solved
   * @param spent in all; null if unknown
   * @param each for a solved task; null if unknown or nothing was solved
   * @param low lower end of its 95 % interval by bootstrap over tasks; null without one, as with
   *     one task, where tasks agree, or where one cost nothing
   * @param high upper end; null without an interval, and if more than 2.5 % of the draws have no
   *     solved task, so that there is no upper end
   */
  public record Amount(
      BudgetCurve.Kind kind,
      @Nullable String unknown,
      @Nullable Double spent,
      @Nullable Double each,
      @Nullable Double low,
      @Nullable Double high) {}

  /** The cost of a kind. */
  public Amount of(BudgetCurve.Kind kind) {
    return amounts.stream().filter(each -> each.kind() == kind).findFirst().orElseThrow();
  }

  /** One for each method and model, in the order of the rows. */
  public static List<CostPerSolved> of(List<TrajectoryRow> rows) {
    return TrajectoryRates.byMethod(rows).stream().map(CostPerSolved::ofOne).toList();
  }

  private static CostPerSolved ofOne(List<TrajectoryRow> rows) {
    Collection<List<TrajectoryRow>> all = TrajectoryRates.byTask(rows).values();
    List<List<TrajectoryRow>> tasks = all.stream().filter(BudgetCurve::isJudged).toList();
    double[] solved = tasks.stream().mapToDouble(task -> isSolved(task) ? 1 : 0).toArray();
    List<Amount> amounts = new ArrayList<>();
    for (BudgetCurve.Kind kind : BudgetCurve.Kind.values()) {
      String unknown = BudgetCurve.unknown(kind, tasks);
      amounts.add(
          unknown == null
              ? amount(kind, tasks, solved)
              : new Amount(kind, unknown, null, null, null, null));
    }
    TrajectoryRow any = rows.getFirst();
    int sum = (int) Arrays.stream(solved).sum();
    return new CostPerSolved(any.method(), any.model(), tasks.size(), sum, amounts);
  }

  private static boolean isSolved(List<TrajectoryRow> task) {
    return task.stream().anyMatch(row -> TrajectoryRates.isTrue(row.correct()));
  }

  private static Amount amount(
      BudgetCurve.Kind kind, List<List<TrajectoryRow>> tasks, double[] solved) {
    double[] spent = tasks.stream().mapToDouble(task -> spent(kind, task)).toArray();
    double all = Arrays.stream(spent).sum();
    double sum = Arrays.stream(solved).sum();
    if (sum == 0) return new Amount(kind, null, all, null, null, null);
    double each = all / sum;
    if (spent.length < 2 || Arrays.stream(spent).anyMatch(one -> one == 0)) {
      return new Amount(kind, null, all, each, null, null);
    }
    // Of solved tasks for what was spent: the reverse would divide by draws without a solved task.
    Bootstrap.Interval interval = Bootstrap.ofRatio(solved, spent);
    if (!(interval.low() < interval.high())) return new Amount(kind, null, all, each, null, null);
    Double high = interval.low() == 0 ? null : (Double) (1 / interval.low());
    return new Amount(kind, null, all, each, 1 / interval.high(), high);
  }

  private static double spent(BudgetCurve.Kind kind, List<TrajectoryRow> task) {
    double sum = 0;
    for (TrajectoryRow row : task) {
      Double own = kind.spent(row);
      if (own != null) sum += own;
    }
    return sum;
  }
}
