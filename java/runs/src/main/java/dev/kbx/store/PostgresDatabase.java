package dev.kbx.store;

import java.net.UnknownHostException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.jdbi.v3.core.Handle;

/**
 * A PostgreSQL database to which many processes write at a time, each its own runs. Tables are in
 * the schema {@value #TABLES}.
 *
 * @param url {@code jdbc:postgresql://HOST/DATABASE}, with user and password unless the driver
 *     finds them elsewhere
 */
record PostgresDatabase(String url) implements Database {
  private static final String TABLES = "kbx";

  /** The newest migration under {@code db}. */
  private static final int SCHEMA = 12;

  /**
   * Without it, statements keep the plan that was right when the tables were empty: each write and
   * each foreign key then reads whole tables, until PostgreSQL next counts their rows.
   */
  private static final String EACH_PLANNED = "-c plan_cache_mode=force_custom_plan";

  /** A machine that died lets its claims go after a minute: the default is two hours. */
  private static final String MISSED_SOON =
      " -c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3";

  /** Makes commits wait for the disk, whatever the database's default is. */
  private static final String DURABLE =
      "SELECT set_config('synchronous_commit', 'on', false)"
          + " WHERE current_setting('synchronous_commit') = 'off'";

  /** A row of some pages, dropped: a full disk cannot take it, a standby does not. */
  private static final String PROBE =
      "INSERT INTO audit (at, client, action, detail)"
          + " SELECT '', '', 'probe', string_agg(md5(random()::text), '')"
          + " FROM generate_series(1, 512)";

  /** Classes of SQLSTATE that are about the data or the statement. */
  private static final Set<String> REFUSED = Set.of("0A", "21", "22", "23", "42", "54");

  private static final String NO_TABLE = "42P01";
  private static final String NO_SCHEMA = "3F000";
  private static final int CONNECT_SECONDS = 10;

  /** Seconds from connecting to a session: what accepts connections may answer none. */
  private static final int LOGIN_SECONDS = 15;

  /**
   * For the next bytes of an answer. No statement takes minutes; a database that died takes ever.
   */
  private static final int ANSWER_SECONDS = 300;

  private static final Pattern SECRET =
      Pattern.compile("(?i)((?:password|sslpassword)=)[^&]*|(//[^/@:]*:)[^/@]*(?=@)");

  @Override
  public String label() {
    return masked(url);
  }

  static String masked(String url) {
    return SECRET.matcher(url).replaceAll("$1$2***");
  }

  @Override
  public Properties properties() {
    Properties properties = new Properties();
    properties.setProperty("ApplicationName", "kbx");
    properties.setProperty("connectTimeout", String.valueOf(CONNECT_SECONDS));
    properties.setProperty("loginTimeout", String.valueOf(LOGIN_SECONDS));
    properties.setProperty("socketTimeout", String.valueOf(ANSWER_SECONDS));
    properties.setProperty("currentSchema", TABLES);
    properties.setProperty("options", EACH_PLANNED + MISSED_SOON);
    properties.setProperty("tcpKeepAlive", "true");
    properties.setProperty("reWriteBatchedInserts", "true");
    return properties;
  }

  @Override
  public Connection connect() throws SQLException {
    Connection connection = DriverManager.getConnection(url, properties());
    try (Statement statement = connection.createStatement()) {
      boolean _ = statement.execute(DURABLE);
      return connection;
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  @Override
  public void check() {
    try {
      connect().close();
    } catch (SQLException e) {
      throw new StoreProblem(label(), reason(e), e);
    }
  }

  @Override
  public void prepare() {
    try {
      if (schema() < SCHEMA) migrate();
      if (schema() > SCHEMA) {
        throw new StoreProblem(label(), "was written by a newer kbx; use that one");
      }
    } catch (SQLException | FlywayException e) {
      throw new StoreProblem(label(), reason(e), e);
    }
  }

  private int schema() throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT max(version::integer) FROM kbx.flyway_schema_history WHERE success")) {
      return rows.next() ? rows.getInt(1) : 0;
    } catch (SQLException e) {
      if (NO_TABLE.equals(e.getSQLState()) || NO_SCHEMA.equals(e.getSQLState())) return 0;
      throw e;
    }
  }

  private void migrate() {
    Flyway.configure()
        .dataSource(url, null, null)
        .schemas(TABLES)
        .locations("classpath:db/postgresql", "classpath:db/common")
        .load()
        .migrate();
  }

  /** Lasts until the connection ends, for whatever reason. */
  @Override
  public boolean claim(Connection connection, String name) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT pg_try_advisory_lock(hashtextextended(?, 0))")) {
      statement.setString(1, "kbx run " + name);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() && rows.getBoolean(1);
      }
    }
  }

  @Override
  public boolean isClaimed(Connection connection, String run) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
                + " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
                + " AND (classid::bigint << 32) | objid::bigint = hashtextextended(?, 0)")) {
      statement.setString(1, "kbx run " + run);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() && rows.getInt(1) > 0;
      }
    }
  }

  @Override
  public void lockClaims(Handle transaction) {}

  /** The lock by which a taker of a claim waits for the transactions of its owner. */
  @Override
  public String share() {
    return " FOR SHARE";
  }

  @Override
  public Optional<String> notDurable(Handle handle) {
    return handle
        .createQuery("SHOW fsync")
        .mapTo(String.class)
        .filter("off"::equals)
        .findFirst()
        .map(_ -> "fsync is off in this PostgreSQL: a power failure may lose what was accepted");
  }

  /** U+0000, which PostgreSQL cannot store, and its replacement. */
  @Override
  public String stored(String text) {
    return text.indexOf('\0') < 0 && text.indexOf('\uE000') < 0
        ? text
        : text.replace("\uE000", "\uE0001").replace("\0", "\uE0000");
  }

  @Override
  public String original(String stored) {
    return stored.indexOf('\uE000') < 0
        ? stored
        : stored.replace("\uE0000", "\0").replace("\uE0001", "\uE000");
  }

  @Override
  public void probe(Handle handle) {
    handle.useTransaction(t -> {
      int _ = t.execute(PROBE);
      Handle _ = t.rollback();
    });
  }

  @Override
  public boolean refuses(SQLException e) {
    String state = e.getSQLState();
    return state != null && state.length() == 5 && REFUSED.contains(state.substring(0, 2));
  }

  @Override
  public String reason(Throwable e) {
    Throwable cause = e;
    while (!(cause instanceof SQLException) && cause.getCause() != null) cause = cause.getCause();
    String text = line(cause);
    if (cause.getCause() instanceof UnknownHostException host) {
      text = "there is no host " + line(host);
    }
    return masked(text.isBlank() ? cause.getClass().getSimpleName() : text);
  }

  private static String line(Throwable e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
  }

  @Override
  public String advice() {
    return "restore it from a backup, or delete the run";
  }
}
