package dev.kbx.paper;

import java.util.ArrayList;
import java.util.List;

/** The tables that a publication has data for, by section. */
final class Tables {
  private Tables() {}

  static List<Tabular> of(Publication publication) {
    List<Tabular> tables = new ArrayList<>();
    tables.addAll(MethodTables.of(publication.analyses().methods(), publication.makers()));
    tables.addAll(DevianceTables.of(publication.analyses().deviance()));
    if (publication.analyses().iterations() != null) {
      tables.addAll(IterationTables.of(publication.analyses().iterations(), publication.makers()));
    }
    tables.addAll(SpeedTables.of(publication));
    tables.addAll(MatrixTables.of(publication.properties(), publication.makers()));
    tables.addAll(ErrorTables.of(publication.analyses().errors()));
    if (publication.portability() != null) {
      tables.addAll(DeviceTables.of(publication.portability()));
    }
    tables.addAll(BudgetTables.of(publication));
    return tables;
  }
}
