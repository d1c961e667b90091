package dev.kbx.store;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import tools.jackson.core.JacksonException;

/**
 * Copies the runs of other databases into one, in one transaction that writes only to that one.
 *
 * <p>Rows are copied unchanged, except cached judgements: those of another installation are never
 * reused in this one.
 */
public final class Merge {
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

  /** Maximum number of files at once; SQLite's limit. */
  public static final int MOST = 10;

  /**
   * A run that was found in another file.
   *
   * @param from the file that it is from
   * @param verdicts number of its verdicts
   * @param added whether it was copied; false if the same run existed
   */
  public record Merged(Path from, RunInfo run, int verdicts, boolean added) {}

  private final Handle target;

  private Merge(Handle target) {
    this.target = target;
  }

  /**
   * Copies all runs of other files into one, with verdicts and sources; on a failure or a kill of
   * this process, none. Throws {@link StoreProblem}, and {@link RunConflict} if a different run has
   * the same id.
   *
   * @param others at most {@value #MOST}
   */
  public static List<Merged> into(Path target, List<Path> others) {
    for (Path other : others) new SqliteDatabase(other).prepare();
    SqliteDatabase database = new SqliteDatabase(target);
    database.prepare();
    try (Handle handle = Jdbi.create(database::connect).open()) {
      return new Merge(handle).all(others);
    } catch (JdbiException e) {
      // SQLite does not report which of the files it was.
      others.forEach(Merge::checkPages);
      throw new StoreProblem(database.label(), database.reason(e), e);
    }
  }

  private static void checkPages(Path file) {
    SqliteDatabase database = new SqliteDatabase(file);
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("PRAGMA quick_check(1)")) {
      if (rows.next() && rows.getString(1).equals("ok")) return;
    } catch (SQLException e) {
      if (!SqliteDatabase.isDamage(e)) {
        throw new StoreProblem(database.label(), database.reason(e), e);
      }
    }
    throw new StoreProblem(database.label(), "is damaged; merge the others without it");
  }

  private List<Merged> all(List<Path> files) {
    try {
      for (int i = 0; i < files.size(); i++) {
        // Not possible within a transaction.
        target.execute("ATTACH DATABASE ? AS other" + i, files.get(i).toAbsolutePath().toString());
      }
      return target.inTransaction(_ -> {
        List<Merged> merged = new ArrayList<>();
        for (int i = 0; i < files.size(); i++) merged.addAll(bring("other" + i, files.get(i)));
        return merged;
      });
    } finally {
      detach();
    }
  }

  private List<Merged> bring(String other, Path file) {
    for (String run : strings(from(other, CONFLICTS))) throw new RunConflict(file.toString(), run);
    List<String> here = strings("SELECT id FROM main.run");
    List<Merged> merged =
        target
            .createQuery(
                from(
                    other,
                    """
                    SELECT o.id, o.info, (SELECT COUNT(*) FROM other.verdict v WHERE v.run = o.id)
                    FROM other.run o ORDER BY o.id
                    """))
            .map((row, _) -> {
              RunInfo run = info(file, row.getString(1), row.getString(2));
              return new Merged(file, run, row.getInt(3), !here.contains(run.id()));
            })
            .list();
    for (Merged run : merged) if (run.added()) copy(other, run.run().id());
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

  private static RunInfo info(Path file, String id, String json) {
    try {
      return Json.mapper().readValue(json, RunInfo.class);
    } catch (JacksonException e) {
      String advice = new SqliteDatabase(file).advice();
      throw new StoreProblem(
          file.toString(), "is damaged: run %s cannot be read; %s".formatted(id, advice), e);
    }
  }
}
