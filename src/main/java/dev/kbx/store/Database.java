package dev.kbx.store;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

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

  /** Claims a run for this connection's process; false if another process has it. */
  boolean claim(Connection connection, String run) throws SQLException;

  /** Encodes any text so that it can be stored. */
  String stored(String text);

  String original(String stored);

  /** The cause of a failure, in one line. */
  String reason(Throwable e);

  /** Advice to the user if stored data cannot be read. */
  String advice();
}
