package dev.kbx.store;

import java.sql.Connection;
import java.sql.SQLException;

/** What SQLite and PostgreSQL do differently; the schema and all queries are the same. */
interface Database {
  /** As messages name it, without a password. */
  String label();

  /** Makes or migrates what kbx needs there. Throws {@link StoreProblem} where that cannot be. */
  void prepare();

  Connection connect() throws SQLException;

  /** Takes a run for this connection's process alone; false where another process has it. */
  boolean claim(Connection connection, String run) throws SQLException;

  /** Any text as it can be stored, and back. */
  String stored(String text);

  String original(String stored);

  /** Why something failed, in a line. */
  String reason(Throwable e);

  /** What to do where what is stored cannot be read. */
  String advice();
}
