package dev.kbx.report;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.Spent;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * {@link BudgetCurve}s of one run for a terminal: a table for each kind of budget.
 *
 * @param width columns of the terminal
 */
public record BudgetText(int width) {
  /** Budgets in a table; curves with more steps are thinned out. */
  private static final int LEVELS = 10;

  /** Methods that fit 80 characters beside each other; more go into further tables. */
  private static final int COLUMNS = 4;

  /** Columns of a method's name. */
  private static final int NAME = 16;

  /** The text, ending in a line break. */
  public String render(RunInfo run, List<BudgetCurve> curves) {
    List<String> lines = new ArrayList<>();
    lines.add(Text.cut(Text.clean(run.suite()) + "  " + Text.clean(run.id()), width));
    Set<String> names = new LinkedHashSet<>();
    for (BudgetCurve curve : curves) {
      names.add("%s: model %s, %s".formatted(curve.method(), curve.model(), tasks(curve)));
    }
    for (String name : names) lines.addAll(wrap(Text.clean(name)));
    for (Spent.Kind kind : Spent.Kind.values()) {
      lines.add("");
      lines.addAll(kind(kind, curves.stream().filter(curve -> curve.kind() == kind).toList()));
    }
    lines.add("");
    lines.addAll(wrap(legend() + " [ ]: Wilson's 95 % interval over tasks."));
    return String.join("\n", lines) + "\n";
  }

  private static String tasks(BudgetCurve curve) {
    String tasks = Counted.of(curve.tasks(), "task");
    return curve.unjudged() == 0
        ? tasks
        : "%s; left out without a final judgement: %d".formatted(tasks, curve.unjudged());
  }

  /** How to read a curve. */
  static String legend() {
    return "Share of tasks with an answer that is correct in the final judgement, by what was spent"
        + " for each task until its first kernel that is correct on development inputs, or"
        + " until the answer if nothing was judged there. Samples of a task are spent one"
        + " after the other.";
  }

  private List<String> kind(Spent.Kind kind, List<BudgetCurve> curves) {
    List<BudgetCurve> known = curves.stream().filter(curve -> curve.unknown() == null).toList();
    List<String> lines = new ArrayList<>();
    for (int from = 0; from < known.size(); from += COLUMNS) {
      List<BudgetCurve> some = known.subList(from, Math.min(known.size(), from + COLUMNS));
      lines.addAll(table(kind, some, BudgetCurve.levels(known, LEVELS)));
    }
    for (BudgetCurve curve : curves) {
      if (curve.unknown() == null) continue;
      String method = Text.clean(curve.method());
      lines.addAll(
          wrap("%s: no curve for %s, as %s.".formatted(title(kind), method, curve.unknown())));
    }
    return lines;
  }

  private List<String> table(Spent.Kind kind, List<BudgetCurve> curves, double[] levels) {
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(title(kind)));
    curves.forEach(curve -> head.add(Text.cut(Text.clean(curve.method()), NAME)));
    rows.add(head);
    for (double level : levels) {
      List<String> row = new ArrayList<>(List.of(amount(kind, level)));
      curves.forEach(curve -> row.add(share(curve.at(level))));
      rows.add(row);
    }
    return new Grid("r".repeat(1 + curves.size()), rows).lines(width);
  }

  private static String share(BudgetCurve.Point point) {
    return String.format(
        Locale.ROOT,
        "%.0f %% %9s",
        point.share() * 100,
        "[%.0f–%.0f]".formatted(point.low() * 100, point.high() * 100));
  }

  static String title(Spent.Kind kind) {
    return switch (kind) {
      case CALLS -> "calls";
      case TOKENS -> "tokens";
      case USD -> "USD";
      case DEVICE_SECONDS -> "device s";
    };
  }

  /** {@code 1,200} calls, {@code 0.05} USD. */
  public static String amount(Spent.Kind kind, double amount) {
    return switch (kind) {
      case CALLS, TOKENS -> String.format(Locale.ROOT, "%,.0f", amount);
      case USD -> String.format(Locale.ROOT, amount < 0.1 ? "%.4f" : "%.2f", amount);
      case DEVICE_SECONDS -> String.format(Locale.ROOT, amount < 10 ? "%.2f" : "%.1f", amount);
    };
  }

  private List<String> wrap(String text) {
    return Text.wrap(text, width, Integer.MAX_VALUE);
  }
}
