package dev.kbx.analysis;

import dev.kbx.stats.Rate;
import dev.kbx.verdict.Spent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Share of tasks that one method with one model solves within a budget for each task.
 *
 * <p>A task is solved by an answer that is correct in the final judgement. It is solved as soon as
 * its trajectory had a kernel that was correct on development inputs, or had the answer if none was
 * judged there. Samples of a task are spent one after the other.
 *
 * @param kind what is limited
 * @param unjudged tasks that are left out, as no answer has a final judgement
 * @param unknown why there is no curve; null if there is one
 * @param points by ascending budget, from nothing to the most that a task was given
 */
public record BudgetCurve(
    String method,
    String model,
    Spent.Kind kind,
    int tasks,
    int unjudged,
    @Nullable String unknown,
    List<Point> points) {

  /**
   * The share from this budget to that of the next point.
   *
   * @param low lower end of its 95 % interval: Wilson's, as a task is solved or not
   */
  public record Point(double budget, int solved, double share, double low, double high) {}

  /** What a task took; infinite if it was not solved. */
  private record Task(double solvedAt, double spent) {}

  /** All kinds of each method and model, in the order of the rows. */
  public static List<BudgetCurve> of(List<TrajectoryRow> rows) {
    List<BudgetCurve> curves = new ArrayList<>();
    for (List<TrajectoryRow> own : TrajectoryRates.byMethod(rows)) {
      for (Spent.Kind kind : Spent.Kind.values()) curves.add(of(own, kind));
    }
    return curves;
  }

  private static BudgetCurve of(List<TrajectoryRow> rows, Spent.Kind kind) {
    Collection<List<TrajectoryRow>> all = TrajectoryRates.byTask(rows).values();
    List<List<TrajectoryRow>> tasks = all.stream().filter(BudgetCurve::isJudged).toList();
    String unknown = unknown(kind, tasks);
    TrajectoryRow any = rows.getFirst();
    return new BudgetCurve(
        any.method(),
        any.model(),
        kind,
        tasks.size(),
        all.size() - tasks.size(),
        unknown,
        unknown == null
            ? points(tasks.stream().map(task -> task(task, kind)).toList())
            : List.of());
  }

  private static boolean isJudged(List<TrajectoryRow> task) {
    return task.stream().anyMatch(row -> row.correct() != null);
  }

  private static @Nullable String unknown(Spent.Kind kind, List<List<TrajectoryRow>> tasks) {
    if (tasks.isEmpty()) return "no answer has a final judgement";
    Double spent =
        tasks.stream()
            .flatMap(List::stream)
            .map(TrajectoryRow::spent)
            .reduce(Spent.NOTHING, Spent::plus)
            .of(kind);
    if (spent == null) {
      return kind == Spent.Kind.TOKENS
          ? "the tokens of some requests are not known"
          : "the price of some requests is not known";
    }
    if (spent > 0) return null;
    return switch (kind) {
      case CALLS -> "no request was sent";
      case TOKENS -> "no reply told its tokens";
      case USD -> "nothing was charged";
      case DEVICE_SECONDS -> "nothing was judged for feedback";
    };
  }

  private static Task task(List<TrajectoryRow> samples, Spent.Kind kind) {
    double solvedAt = Double.POSITIVE_INFINITY;
    double spent = 0;
    List<TrajectoryRow> inOrder = new ArrayList<>(samples);
    inOrder.sort((a, b) -> Integer.compare(a.sample(), b.sample()));
    for (TrajectoryRow row : inOrder) {
      Spent reached = row.reached();
      if (TrajectoryRates.isTrue(row.correct()) && reached != null) {
        solvedAt = Math.min(solvedAt, spent + amount(reached, kind));
      }
      spent += amount(row.spent(), kind);
    }
    return new Task(solvedAt, spent);
  }

  private static double amount(Spent spent, Spent.Kind kind) {
    Double known = spent.of(kind);
    return known == null ? 0 : known;
  }

  private static List<Point> points(List<Task> tasks) {
    TreeMap<Double, Integer> solved = new TreeMap<>();
    solved.put(0.0, 0);
    for (Task task : tasks) {
      if (Double.isFinite(task.solvedAt())) solved.merge(task.solvedAt(), 1, Integer::sum);
    }
    solved.merge(tasks.stream().mapToDouble(Task::spent).max().orElse(0), 0, Integer::sum);
    List<Point> points = new ArrayList<>();
    int sum = 0;
    for (var step : solved.entrySet()) {
      sum += step.getValue();
      points.add(point(step.getKey(), sum, tasks.size()));
    }
    return points;
  }

  private static Point point(double budget, int solved, int tasks) {
    Rate rate = new Rate(solved, tasks);
    return new Point(budget, solved, rate.value(), rate.low(), rate.high());
  }

  /** The last point that a budget reaches; there is a curve. */
  public Point at(double budget) {
    Point reached = points.getFirst();
    for (Point point : points) if (point.budget() <= budget) reached = point;
    return reached;
  }

  /**
   * Budgets at which a table may say what some curves of one kind have reached: where they step,
   * and if these are too many, evenly chosen ones of them. The last is the largest.
   */
  public static double[] levels(List<BudgetCurve> curves, int most) {
    double[] all =
        curves.stream()
            .flatMap(curve -> curve.points().stream())
            .mapToDouble(Point::budget)
            .filter(budget -> budget > 0)
            .sorted()
            .distinct()
            .toArray();
    if (all.length <= most) return all;
    double[] chosen = new double[most];
    Arrays.setAll(chosen, i -> all[(int) Math.round((i + 1) * (double) all.length / most) - 1]);
    return chosen;
  }
}
