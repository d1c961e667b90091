package dev.kbx.section;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.document.Axes;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Figure;
import dev.kbx.document.Figure.Join;
import dev.kbx.document.Figure.Point;
import dev.kbx.document.Figure.Series;
import dev.kbx.document.Figure.Whiskers;
import dev.kbx.document.Section;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@link BudgetCurve}s of one run: a table for each kind of budget. */
public final class BudgetSection {
  /** Height of the plot area, cm. */
  private static final double HEIGHT = 6;

  /** Budgets in a table; curves with more steps are thinned out. */
  private static final int LEVELS = 10;

  private BudgetSection() {}

  /** A run and what its methods solve within a budget. */
  public record Curves(String run, List<BudgetCurve> curves) {}

  /** What methods of one run solve. */
  public static Section of(Curves run) {
    Blocks blocks = new Blocks();
    blocks.prose(
        run.curves().stream()
                .map(curve ->
                    "%s: model %s, %s".formatted(curve.method(), curve.model(), tasks(curve)))
                .distinct()
                .collect(joining("; "))
            + ".");
    blocks.addAll(tables(run, "budget"));
    for (BudgetCurve curve : run.curves()) {
      if (curve.unknown() == null) continue;
      blocks.note(
          "%s: no curve for %s, as %s.", title(curve.kind()), curve.method(), curve.unknown());
    }
    return blocks.section("budget", "Run " + run.run());
  }

  /** The section of several runs, with tables alone. */
  public static Section of(List<Curves> runs) {
    Blocks blocks = new Blocks();
    for (int i = 0; i < runs.size(); i++) {
      blocks.addAll(tables(runs.get(i), runs.size() == 1 ? "budget" : "budget-" + (i + 1)));
    }
    return blocks.section("budget", "Budget");
  }

  /** The section of one run, with figures alone; null where nothing is known. */
  public static @Nullable Section figures(List<BudgetCurve> all) {
    MethodNames names = names(all);
    Blocks blocks = new Blocks();
    for (BudgetCurve.Kind kind : BudgetCurve.Kind.values()) {
      Map<String, BudgetCurve> curves = new LinkedHashMap<>();
      for (BudgetCurve curve : all) {
        if (curve.kind() != kind || curve.unknown() != null) continue;
        curves.put(names.of(curve.method(), curve.model()), curve);
      }
      if (!curves.isEmpty()) blocks.add(figure(kind, curves));
    }
    Section section = blocks.section("budget", "Solved within a budget");
    return section.blocks().isEmpty() ? null : section;
  }

  /**
   * What is solved within a budget of one kind.
   *
   * @param curves by name; at least one
   */
  public static Figure figure(BudgetCurve.Kind kind, Map<String, BudgetCurve> curves) {
    double most =
        curves.values().stream()
            .mapToDouble(curve -> curve.points().getLast().budget())
            .max()
            .orElse(1);
    List<Series> series = new ArrayList<>();
    curves.forEach((name, curve) -> series.add(steps(name, curve, most)));
    return new Figure(
        "budget-" + kind.label().replace('_', '-'),
        Captions.budget(kind),
        Axes.upTo(Captions.budgetAxis(kind), most),
        Axes.percent("tasks solved (%)", Figure.most(series, Whiskers.ALONG_Y)),
        Whiskers.ALONG_Y,
        HEIGHT,
        series);
  }

  private static Series steps(String name, BudgetCurve curve, double most) {
    List<Point> points = new ArrayList<>();
    for (BudgetCurve.Point point : curve.points()) {
      points.add(
          new Point(point.budget(), 100 * point.share(), 100 * point.low(), 100 * point.high()));
    }
    Point last = points.getLast();
    if (last.x() < most) points.add(new Point(most, last.y(), last.low(), last.high()));
    return new Series(name, Join.STEPS, points);
  }

  private static MethodNames names(List<BudgetCurve> curves) {
    return new MethodNames(
        curves.stream()
            .map(curve -> new MethodAndModel(curve.method(), curve.model()))
            .distinct()
            .toList());
  }

  private static String tasks(BudgetCurve curve) {
    String tasks = Counted.of(curve.tasks(), "task");
    return curve.unjudged() == 0
        ? tasks
        : "%s (left out without a final judgement: %d)".formatted(tasks, curve.unjudged());
  }

  private static List<Table> tables(Curves run, String id) {
    MethodNames names = names(run.curves());
    List<Table> tables = new ArrayList<>();
    for (BudgetCurve.Kind kind : BudgetCurve.Kind.values()) {
      List<BudgetCurve> known =
          run.curves().stream()
              .filter(curve -> curve.kind() == kind && curve.unknown() == null)
              .toList();
      if (known.isEmpty()) continue;
      List<Column> columns = new ArrayList<>(List.of(Column.number(title(kind))));
      known.forEach(curve -> columns.add(Column.number(names.of(curve.method(), curve.model()))));
      List<List<Cell>> rows = new ArrayList<>();
      for (double level : BudgetCurve.levels(known, LEVELS)) {
        List<Cell> row = new ArrayList<>(List.of(amount(kind, level)));
        for (BudgetCurve curve : known) {
          BudgetCurve.Point point = curve.at(level);
          row.add(Cell.share(point.share(), point.low(), point.high()));
        }
        rows.add(row);
      }
      tables.add(
          new Table(
              id + "-" + kind.label().replace('_', '-'),
              "Run %s. %s".formatted(run.run(), Captions.budget(kind)),
              columns,
              rows));
    }
    return tables;
  }

  /** The unit of a budget. */
  static String title(BudgetCurve.Kind kind) {
    return switch (kind) {
      case TURNS -> "turns";
      case CALLS -> "calls";
      case TOKENS -> "tokens";
      case USD -> "USD";
      case DEVICE_SECONDS -> "device time";
    };
  }

  private static Cell amount(BudgetCurve.Kind kind, double amount) {
    return switch (kind) {
      case TURNS, CALLS, TOKENS -> Cell.count(Math.round(amount));
      case USD -> Cell.usd(amount);
      case DEVICE_SECONDS -> Cell.seconds(amount);
    };
  }
}
