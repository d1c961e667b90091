package dev.kbx.store;

import dev.kbx.verdict.RunInfo;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;

/**
 * Brings the runs of other databases into one: all of them in one transaction, which writes to this
 * one alone.
 *
 * <p>Rows are copied as they are, but no remembered judgements: what another installation judged is
 * shown here and never taken for a judgement of this one.
 */
final class Merge {
  /** Rows of {@code other} that are the run's there and not here, or the other way round. */
  private static final String DIFFERENCE =
      """
      SELECT position, candidate, task, status, body FROM %s.verdict WHERE run = o.id
      EXCEPT SELECT position, candidate, task, status, body FROM %s.verdict WHERE run = o.id
      """;

  private static final String CONFLICTS =
      """
      SELECT o.id FROM other.run o JOIN main.run r ON r.id = o.id
      WHERE o.info <> r.info OR EXISTS (%s) OR EXISTS (%s) ORDER BY o.id
      """
          .formatted(DIFFERENCE.formatted("other", "main"), DIFFERENCE.formatted("main", "other"));

  private static final String COLUMNS =
      "run, position, identity, candidate, suite, category, task, method, model, sample, round,"
          + " status, stage, device, speedup, speedup_low, speedup_high, baseline, body";

  private final Handle target;

  Merge(Handle target) {
    this.target = target;
  }

  /**
   * Brings every run of {@code files}, which have this version's schema.
   *
   * @throws RunConflict with nothing brought
   */
  List<Store.Merged> all(List<Path> files) {
    try {
      for (int i = 0; i < files.size(); i++) {
        // Not possible within a transaction.
        target.execute("ATTACH DATABASE ? AS other" + i, files.get(i).toAbsolutePath().toString());
      }
      return target.inTransaction(_ -> {
        List<Store.Merged> merged = new ArrayList<>();
        for (int i = 0; i < files.size(); i++) merged.addAll(bring("other" + i, files.get(i)));
        return merged;
      });
    } finally {
      detach();
    }
  }

  private List<Store.Merged> bring(String other, Path file) {
    for (String run : strings(from(other, CONFLICTS))) throw new RunConflict(file, run);
    List<String> here = strings("SELECT id FROM main.run");
    List<Store.Merged> merged =
        target
            .createQuery(
                from(
                    other,
                    """
                    SELECT o.id, o.info, (SELECT COUNT(*) FROM other.verdict v WHERE v.run = o.id)
                    FROM other.run o ORDER BY o.id
                    """))
            .map((row, _) -> {
              RunInfo run = Store.info(file, row.getString(1), row.getString(2));
              return new Store.Merged(file, run, row.getInt(3), !here.contains(run.id()));
            })
            .list();
    for (Store.Merged run : merged) if (run.added()) copy(other, run.run().id());
    return merged;
  }

  private void copy(String other, String run) {
    for (String statement :
        List.of(
            """
            INSERT INTO main.run (id, started, finished, info)
            SELECT id, started, finished, info FROM other.run WHERE id = ?
            """,
            """
            INSERT OR IGNORE INTO main.source (candidate, code)
            SELECT candidate, code FROM other.source
            WHERE candidate IN (SELECT candidate FROM other.verdict WHERE run = ?)
            """,
            """
            INSERT INTO main.verdict (%1$s) SELECT %1$s FROM other.verdict WHERE run = ?
            """
                .formatted(COLUMNS))) {
      target.execute(from(other, statement), run);
    }
  }

  private void detach() {
    for (String name : strings("SELECT name FROM pragma_database_list")) {
      if (name.startsWith("other")) target.execute("DETACH DATABASE " + name);
    }
  }

  private static String from(String other, String statement) {
    return statement.replace("other.", other + ".");
  }

  private List<String> strings(String query) {
    return target.createQuery(query).mapTo(String.class).list();
  }
}
