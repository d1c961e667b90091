package dev.kbx.store;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Properties;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;

/** The differences between SQLite and PostgreSQL; schema and queries are the same. */
interface Database {
  /** Name for messages, without a password. */
  String label();

  /** Throws {@link StoreProblem} if there can be no database there; makes nothing. */
  void check();

  /** Creates or migrates the tables. Throws {@link StoreProblem} if that fails. */
  void prepare();

  /** Address for the driver. */
  String url();

  /** Settings of a connection, for the driver. */
  Properties properties();

  default Connection connect() throws SQLException {
    return DriverManager.getConnection(url(), properties());
  }

  /** Locks a claim for this connection's process; false if another process has the lock. */
  boolean claim(Connection connection, String name) throws SQLException;

  /** Begins a transaction that reads claims, and then writes as if nobody could take them. */
  void lockClaims(Handle transaction);

  /** What a query ends with so that nobody changes the rows until the transaction ends. */
  String share();

  /** Why a power failure may lose what was committed, in one line; empty if it does not. */
  Optional<String> notDurable(Handle handle);

  /** Whether a connection of any process has claimed a run. */
  boolean isClaimed(Connection connection, String run) throws SQLException;

  /** Encodes any text so that it can be stored. */
  String stored(String text);

  String original(String stored);

  /**
   * Writes a little and commits or drops it; throws like any statement if nothing can be written,
   * {@link StoreProblem} if there is soon no room.
   */
  void probe(Handle handle);

  /** Whether a failure is about the data or the statement, and not about the database. */
  boolean refuses(SQLException e);

  /** What a failed statement is thrown as. */
  default StoreProblem problem(JdbiException e) {
    Throwable cause = e;
    while (!(cause instanceof SQLException) && cause.getCause() != null) cause = cause.getCause();
    boolean refused = !(cause instanceof SQLException sql) || refuses(sql);
    return new StoreProblem(label(), reason(e), refused, e);
  }

  /** The cause of a failure, in one line. */
  String reason(Throwable e);

  /** Advice to the user if stored data cannot be read. */
  String advice();
}
