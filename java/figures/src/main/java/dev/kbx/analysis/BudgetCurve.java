package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
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
    Kind kind,
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

  /** What can be limited. */
  public enum Kind {
    CALLS("calls"),
    TOKENS("tokens"),
    USD("usd"),
    DEVICE_SECONDS("device_seconds"),
    /** Kernels judged on development inputs. */
    TURNS("turns");

    private final String label;

    Kind(String label) {
      this.label = label;
    }

    /** The name in files. */
    @JsonValue
    public String label() {
      return label;
    }

    /** What a trajectory spent in all; null where that is not known. */
    @Nullable Double spent(TrajectoryRow row) {
      return this == TURNS ? (Double) (double) row.turns() : of(row.spent());
    }

    /** What it spent until it was solved or answered; null where not known or not answered. */
    @Nullable Double reached(TrajectoryRow row) {
      if (row.reached() == null) return null;
      if (this != TURNS) return of(row.reached());
      Integer first = row.firstCorrect();
      return first == null ? (Double) (double) row.turns() : (Double) (double) first;
    }

    private @Nullable Double of(Spent spent) {
      return switch (this) {
        case TURNS -> null;
        case CALLS -> (double) spent.calls();
        case TOKENS -> spent.uncounted() > 0 ? null : (Double) (double) spent.tokens();
        case USD -> spent.unpriced() > 0 ? null : (Double) spent.usd();
        case DEVICE_SECONDS -> spent.deviceSeconds();
      };
    }
  }

  /** What a task took; infinite if it was not solved. */
  private record Task(double solvedAt, double spent) {}

  /** All kinds of each method and model, in the order of the rows. */
  public static List<BudgetCurve> of(List<TrajectoryRow> rows) {
    List<BudgetCurve> curves = new ArrayList<>();
    for (List<TrajectoryRow> own : TrajectoryRates.byMethod(rows)) {
      for (Kind kind : Kind.values()) curves.add(of(own, kind));
    }
    return curves;
  }

  private static BudgetCurve of(List<TrajectoryRow> rows, Kind kind) {
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

  static boolean isJudged(List<TrajectoryRow> task) {
    return task.stream().anyMatch(row -> row.correct() != null);
  }

  /** Why the costs of some tasks are not known or all nothing; null if they are known. */
  static @Nullable String unknown(Kind kind, List<List<TrajectoryRow>> tasks) {
    if (tasks.isEmpty()) return "no answer has a final judgement";
    double spent = 0;
    for (TrajectoryRow row : tasks.stream().flatMap(List::stream).toList()) {
      Double own = kind.spent(row);
      if (own == null) {
        return kind == Kind.TOKENS
            ? "the tokens of some requests are not known"
            : "the price of some requests is not known";
      }
      spent += own;
    }
    if (spent > 0) return null;
    return switch (kind) {
      case CALLS -> "no request was sent";
      case TOKENS -> "no reply told its tokens";
      case USD -> "nothing was charged";
      case TURNS, DEVICE_SECONDS -> "nothing was judged for feedback";
    };
  }

  private static Task task(List<TrajectoryRow> samples, Kind kind) {
    double solvedAt = Double.POSITIVE_INFINITY;
    double spent = 0;
    List<TrajectoryRow> inOrder = new ArrayList<>(samples);
    inOrder.sort((a, b) -> Integer.compare(a.sample(), b.sample()));
    for (TrajectoryRow row : inOrder) {
      Double reached = kind.reached(row);
      if (TrajectoryRates.isTrue(row.correct()) && reached != null) {
        solvedAt = Math.min(solvedAt, spent + reached);
      }
      Double own = kind.spent(row);
      if (own != null) spent += own;
    }
    return new Task(solvedAt, spent);
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
