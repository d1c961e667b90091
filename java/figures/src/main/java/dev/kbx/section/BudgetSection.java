package dev.kbx.section;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.Maker;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import dev.kbx.verdict.Spent;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** {@link BudgetCurve}s of one run: a table for each kind of budget. */
public final class BudgetSection {
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

  /** Of several runs, with tables alone. */
  public static Section of(List<Curves> runs) {
    Blocks blocks = new Blocks();
    for (int i = 0; i < runs.size(); i++) {
      blocks.addAll(tables(runs.get(i), runs.size() == 1 ? "budget" : "budget-" + (i + 1)));
    }
    return blocks.section("budget", "Budget");
  }

  private static String tasks(BudgetCurve curve) {
    String tasks = Counted.of(curve.tasks(), "task");
    return curve.unjudged() == 0
        ? tasks
        : "%s (left out without a final judgement: %d)".formatted(tasks, curve.unjudged());
  }

  private static List<Table> tables(Curves run, String id) {
    MethodNames names =
        new MethodNames(
            run.curves().stream()
                .map(curve -> new Maker(curve.method(), curve.model()))
                .distinct()
                .toList());
    List<Table> tables = new ArrayList<>();
    for (Spent.Kind kind : Spent.Kind.values()) {
      List<BudgetCurve> known =
          run.curves().stream()
              .filter(curve -> curve.kind() == kind && curve.unknown() == null)
              .toList();
      if (known.isEmpty()) continue;
      List<Column> columns = new ArrayList<>(List.of(Column.number(title(kind))));
      known.forEach(curve -> columns.add(Column.number(names.of(curve.method(), curve.model()))));
      List<List<Cell>> rows = new ArrayList<>();
      for (double level : BudgetCurve.levels(known, LEVELS)) {
        List<Cell> row = new ArrayList<>(List.of(Cell.text(amount(kind, level))));
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
  private static String title(Spent.Kind kind) {
    return switch (kind) {
      case CALLS -> "calls";
      case TOKENS -> "tokens";
      case USD -> "USD";
      case DEVICE_SECONDS -> "device s";
    };
  }

  /** {@code 1,200} calls, {@code 0.05} USD. */
  private static String amount(Spent.Kind kind, double amount) {
    return switch (kind) {
      case CALLS, TOKENS -> String.format(Locale.ROOT, "%,.0f", amount);
      case USD -> String.format(Locale.ROOT, amount < 0.1 ? "%.4f" : "%.2f", amount);
      case DEVICE_SECONDS -> String.format(Locale.ROOT, amount < 10 ? "%.2f" : "%.1f", amount);
    };
  }
}
