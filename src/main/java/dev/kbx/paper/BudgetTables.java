package dev.kbx.paper;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.Spent;
import dev.kbx.document.Block.Table;
import dev.kbx.document.Cell;
import dev.kbx.document.Chunks;
import dev.kbx.document.Column;
import dev.kbx.report.BudgetText;
import java.util.ArrayList;
import java.util.List;

/** Tasks solved within budgets: a table for each run and kind of budget. */
final class BudgetTables {
  private static final int LEVELS = 8;

  private static final int ACROSS = 4;

  private BudgetTables() {}

  static List<Table> of(Publication publication) {
    List<Table> tables = new ArrayList<>();
    Makers makers = publication.makers();
    int runs = publication.budgets().size();
    for (int run = 0; run < runs; run++) {
      Publication.Budget budget = publication.budgets().get(run);
      for (Spent.Kind kind : Spent.Kind.values()) {
        List<BudgetCurve> known =
            budget.curves().stream()
                .filter(curve -> curve.kind() == kind && curve.unknown() == null)
                .toList();
        String id = "budget-" + kind.label().replace('_', '-');
        String ofRun = Chunks.id(id, run, runs);
        List<List<BudgetCurve>> parts = Chunks.of(known, ACROSS);
        for (int part = 0; part < parts.size(); part++) {
          tables.add(
              table(
                  Chunks.id(ofRun, part, parts.size()),
                  kind,
                  parts.get(part),
                  known,
                  budget,
                  makers));
        }
      }
    }
    return tables;
  }

  private static Table table(
      String id,
      Spent.Kind kind,
      List<BudgetCurve> some,
      List<BudgetCurve> all,
      Publication.Budget budget,
      Makers makers) {
    List<Column> columns = new ArrayList<>(List.of(Column.number(Captions.budgetAxis(kind))));
    some.forEach(curve -> columns.add(Column.number(makers.of(curve.method(), curve.model()))));
    List<List<Cell>> rows = new ArrayList<>();
    for (double level : BudgetCurve.levels(all, LEVELS)) {
      List<Cell> row = new ArrayList<>(List.of(Cell.text(BudgetText.amount(kind, level))));
      for (BudgetCurve curve : some) {
        BudgetCurve.Point point = curve.at(level);
        row.add(Cell.share(point.share(), point.low(), point.high()));
      }
      rows.add(row);
    }
    return new Table(
        id, "Run %s. %s".formatted(budget.run(), Captions.budget(kind)), columns, rows);
  }
}
