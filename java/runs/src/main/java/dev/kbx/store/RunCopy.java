package dev.kbx.store;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;

/**
 * Copies rows of one database to another, many with one statement: a row at a time costs a round
 * trip for each.
 *
 * @param reading a transaction of the store that is read
 * @param writing a transaction of the store that is written
 */
record RunCopy(Database from, Handle reading, Database to, Handle writing) {
  private static final int AT_ONCE = 500;

  private static final List<String> SESSION =
      List.of(
          "id",
          "client",
          "run",
          "suite",
          "task",
          "method",
          "sample",
          "settings",
          "start",
          "begun",
          "state",
          "ended",
          "answer",
          "why");

  private static final List<String> SUBMISSION =
      List.of(
          "id",
          "client",
          "run",
          "accepted_for",
          "identity",
          "candidate",
          "suite",
          "task",
          "method",
          "model",
          "sample",
          "round",
          "conditions",
          "origin",
          "priority",
          "submitted",
          "deadline",
          "session",
          "state",
          "position",
          "cached",
          "waited",
          "message");

  private static final List<String> TURN = List.of("submission", "judgement", "judged");

  /** Columns of these tables whose text the database may not take as it is. */
  private static final Set<String> ENCODED =
      Set.of(
          "method",
          "settings",
          "start",
          "why",
          "identity",
          "model",
          "conditions",
          "origin",
          "message",
          "judgement");

  /** Copies a run, which is not there. Throws {@link StoreProblem} if it cannot be written. */
  void copy(String run) {
    copy(
        run,
        "SELECT id, started, finished, info, name, note FROM run WHERE id = ?",
        "INSERT INTO run (id, started, finished, info, name, note) VALUES (?, ?, ?, ?, ?, ?)",
        List.of());
    copy(
        run,
        "SELECT candidate, code FROM source"
            + " WHERE candidate IN (SELECT candidate FROM verdict WHERE run = ?)",
        "INSERT INTO source (candidate, code) VALUES (?, ?) ON CONFLICT DO NOTHING",
        List.of(1));
    copy(
        run,
        // In order: SQLite then reads its file from front to back.
        "SELECT %s FROM verdict WHERE run = ? ORDER BY position"
            .formatted(String.join(", ", VerdictColumns.NAMES)),
        VerdictColumns.INSERT,
        VerdictColumns.ENCODED.stream().map(VerdictColumns.NAMES::indexOf).toList());
  }

  /**
   * Copies those of a run's sessions that are not there, with the turns that were judged: others
   * are judged by the server that accepted them. Keys of clients stay behind, as each names one
   * session of one server.
   */
  void copySessions(String run) {
    // A turn is judged an instant before its submission leaves the queue.
    String judged = "state <> 'queued' AND id IN (SELECT t.submission FROM turn t)";
    copy(
        run,
        "SELECT candidate, code FROM source WHERE candidate IN"
            + " (SELECT s.candidate FROM submission s WHERE s.run = ? AND "
            + judged
            + ")",
        "INSERT INTO source (candidate, code) VALUES (?, ?) ON CONFLICT DO NOTHING",
        List.of(1));
    copy(run, "session", SESSION, "run = ?", "id");
    copy(run, "submission", SUBMISSION, "run = ? AND session IS NOT NULL AND " + judged, "id");
    copy(
        run,
        "turn",
        TURN,
        "submission IN (SELECT s.id FROM submission s WHERE s.run = ? AND s.state <> 'queued')",
        "submission");
  }

  /** Copies the rows of a table that are not there. */
  private void copy(String run, String table, List<String> columns, String where, String key) {
    String names = String.join(", ", columns);
    String values = columns.stream().map(_ -> "?").collect(Collectors.joining(", "));
    copy(
        run,
        "SELECT %s FROM %s WHERE %s".formatted(names, table, where),
        "INSERT INTO %s (%s) VALUES (%s) ON CONFLICT (%s) DO NOTHING"
            .formatted(table, names, values, key),
        IntStream.range(0, columns.size())
            .filter(i -> ENCODED.contains(columns.get(i)))
            .boxed()
            .toList());
  }

  /**
   * Copies rows.
   *
   * @param encoded which columns, from 0, have text that is encoded for its database
   */
  private void copy(String run, String select, String insert, List<Integer> encoded) {
    try (PreparedStatement rows = reading.getConnection().prepareStatement(select);
        Batch batch = new Batch(insert)) {
      rows.setFetchSize(AT_ONCE);
      rows.setString(1, run);
      try (ResultSet row = rows.executeQuery()) {
        int columns = row.getMetaData().getColumnCount();
        while (row.next()) {
          Object[] values = new Object[columns];
          for (int i = 0; i < columns; i++) values[i] = row.getObject(i + 1);
          for (int i : encoded) {
            if (values[i] instanceof String text) values[i] = to.stored(from.original(text));
          }
          batch.add(values);
        }
      }
      batch.flush();
    } catch (SQLException e) {
      throw new StoreProblem(from.label(), from.reason(e), e);
    }
  }

  /** Rows to be inserted; a failure is that of the store written. */
  private final class Batch implements AutoCloseable {
    private final PreparedStatement statement;
    private int rows;

    Batch(String insert) {
      try {
        statement = writing.getConnection().prepareStatement(insert);
      } catch (SQLException e) {
        throw problem(e);
      }
    }

    void add(Object[] values) {
      try {
        for (int i = 0; i < values.length; i++) statement.setObject(i + 1, values[i]);
        statement.addBatch();
      } catch (SQLException e) {
        throw problem(e);
      }
      if (++rows == AT_ONCE) flush();
    }

    void flush() {
      if (rows == 0) return;
      rows = 0;
      try {
        var _ = statement.executeBatch();
      } catch (SQLException e) {
        throw problem(e);
      }
    }

    private StoreProblem problem(SQLException e) {
      return new StoreProblem(to.label(), to.reason(e), e);
    }

    @Override
    public void close() {
      try {
        statement.close();
      } catch (SQLException e) {
        throw problem(e);
      }
    }
  }
}
