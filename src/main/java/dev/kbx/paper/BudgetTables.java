package dev.kbx.paper;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.Spent;
import dev.kbx.paper.Tabular.Section;
import dev.kbx.report.BudgetText;
import java.util.ArrayList;
import java.util.List;

/** Tasks solved within budgets: a table for each run and kind of budget. */
final class BudgetTables {
  private static final int LEVELS = 8;

  private static final int ACROSS = 4;

  private BudgetTables() {}

  static List<Tabular> of(Publication publication) {
    List<Tabular> tables = new ArrayList<>();
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

  private static Tabular table(
      String id,
      Spent.Kind kind,
      List<BudgetCurve> some,
      List<BudgetCurve> all,
      Publication.Budget budget,
      Makers makers) {
    List<String> heads = new ArrayList<>(List.of(Captions.budgetAxis(kind)));
    some.forEach(curve -> heads.add(makers.of(curve.method(), curve.model())));
    List<List<String>> rows = new ArrayList<>();
    for (double level : BudgetCurve.levels(all, LEVELS)) {
      List<String> row = new ArrayList<>(List.of(BudgetText.amount(kind, level)));
      for (BudgetCurve curve : some) {
        BudgetCurve.Point point = curve.at(level);
        row.add(Numbers.percent(point.share(), point.low(), point.high()));
      }
      rows.add(row);
    }
    return new Tabular(
        id,
        Section.BUDGET,
        "Run %s. %s In percent.".formatted(budget.run(), Captions.budget(kind)),
        Tabular.columns(0, heads),
        rows);
  }
}
