package dev.kbx.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.jdbi.v3.core.Handle;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** An SQLite file. One process writes at a time: its folder is locked. */
record SqliteDatabase(Path file) implements Database {
  /** Bytes that must be free on its disk: about what the next transaction and checkpoint take. */
  private static final long LEAST_FREE = 8 << 20;

  /** For another process or connection that writes. */
  private static final Duration BUSY = Duration.ofSeconds(10);

  private static final Set<Integer> DAMAGED =
      Set.of(SQLiteErrorCode.SQLITE_NOTADB.code, SQLiteErrorCode.SQLITE_CORRUPT.code);

  private static final Set<Integer> REFUSED =
      Set.of(
          SQLiteErrorCode.SQLITE_ERROR.code,
          SQLiteErrorCode.SQLITE_TOOBIG.code,
          SQLiteErrorCode.SQLITE_CONSTRAINT.code,
          SQLiteErrorCode.SQLITE_MISMATCH.code,
          SQLiteErrorCode.SQLITE_MISUSE.code,
          SQLiteErrorCode.SQLITE_RANGE.code);

  /** The driver's message; SQLite's own words are in the brackets. */
  private static final Pattern TWICE = Pattern.compile("\\[SQLITE_\\w+\\] .*?\\((.+)\\)");

  @Override
  public String url() {
    return "jdbc:sqlite:" + file;
  }

  @Override
  public Properties properties() {
    SQLiteConfig config = new SQLiteConfig();
    config.setJournalMode(SQLiteConfig.JournalMode.WAL);
    // A commit waits for the disk: what was accepted survives a power failure, too.
    config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
    config.enforceForeignKeys(true);
    config.setBusyTimeout((int) BUSY.toMillis());
    return config.toProperties();
  }

  @Override
  public String label() {
    return file.toString();
  }

  @Override
  public void check() {
    if (Files.isDirectory(file)) throw new StoreProblem(label(), "is a folder; " + advice());
  }

  @Override
  public void prepare() {
    check();
    try {
      if (madeTables()) return;
      if (isForeign()) {
        throw new StoreProblem(label(), "is another program's database; name another folder");
      }
      if (schema() < SqliteSchema.VERSION) migrate();
      if (schema() > SqliteSchema.VERSION) {
        throw new StoreProblem(label(), "was written by a newer kbx; use that one");
      }
    } catch (SQLException e) {
      throw new StoreProblem(label(), reason(e), e);
    } catch (FlywayException e) {
      throw new StoreProblem(
          label(), "cannot be brought to this version's schema: " + reason(e), e);
    }
  }

  /** Makes the tables of a file without any; false if it has some, or another process made them. */
  private boolean madeTables() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url())) {
      if (!isEmpty(connection)) return false; // Without waiting for who writes there.
    }
    SQLiteConfig config = new SQLiteConfig();
    config.setTransactionMode(SQLiteConfig.TransactionMode.IMMEDIATE);
    config.setBusyTimeout((int) BUSY.toMillis());
    try (Connection connection = DriverManager.getConnection(url(), config.toProperties())) {
      connection.setAutoCommit(false);
      if (!isEmpty(connection)) return false;
      SqliteSchema.create(connection);
      return true;
    }
  }

  private static boolean isEmpty(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet tables = statement.executeQuery("SELECT count(*) FROM sqlite_master")) {
      return tables.next() && tables.getInt(1) == 0;
    }
  }

  private int schema() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("PRAGMA user_version")) {
      return rows.next() ? rows.getInt(1) : 0;
    }
  }

  /** Whether it has tables of another program; a killed migration leaves only the history table. */
  private boolean isForeign() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement();
        ResultSet tables =
            statement.executeQuery(
                "SELECT count(*), count(*) FILTER (WHERE name = 'flyway_schema_history')"
                    + " FROM sqlite_master WHERE type = 'table'")) {
      return tables.next() && tables.getInt(1) > 0 && tables.getInt(2) == 0;
    }
  }

  private void migrate() throws SQLException {
    Flyway.configure()
        .dataSource(url(), null, null)
        .locations("classpath:db/migration", "classpath:db/common")
        .load()
        .migrate();
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA user_version = " + SqliteSchema.VERSION);
    }
  }

  @Override
  public boolean claim(Connection connection, String name) {
    return true; // Whoever writes here has the folder.
  }

  /**
   * Takes the lock of all writers. A transaction that reads before it writes would fail at once if
   * another connection wrote in between.
   */
  @Override
  public void lockClaims(Handle transaction) {
    int _ = transaction.execute("UPDATE claim SET epoch = epoch WHERE name IS NULL");
  }

  @Override
  public String share() {
    return "";
  }

  @Override
  public Optional<String> notDurable(Handle handle) {
    return Optional.empty();
  }

  @Override
  public boolean isClaimed(Connection connection, String run) {
    return false;
  }

  @Override
  public String stored(String text) {
    return text;
  }

  @Override
  public String original(String stored) {
    return stored;
  }

  /** Writes the version that it has: no smaller transaction reaches the disk. */
  @Override
  public void probe(Handle handle) {
    int _ = handle.execute("PRAGMA user_version = " + SqliteSchema.VERSION);
    try {
      if (Files.getFileStore(file).getUsableSpace() < LEAST_FREE) {
        throw new StoreProblem(
            label(), "less than %d MiB are free on its disk".formatted(LEAST_FREE >> 20));
      }
    } catch (IOException e) {
      throw new StoreProblem(label(), String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public boolean refuses(SQLException e) {
    return e instanceof SQLiteException sqlite
        && REFUSED.contains(sqlite.getResultCode().code & 0xff);
  }

  @Override
  public String reason(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) cause = cause.getCause();
    if (isDamage(cause)) return "is damaged, or no database; " + advice();
    String text = String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
    Matcher twice = TWICE.matcher(text);
    if (twice.matches()) return String.valueOf(twice.group(1));
    return text.isBlank() ? cause.getClass().getSimpleName() : text;
  }

  private static boolean isDamage(Throwable e) {
    // The error code without its details.
    return e instanceof SQLiteException sqlite
        && DAMAGED.contains(sqlite.getResultCode().code & 0xff);
  }

  @Override
  public String advice() {
    String advice = "name another folder, or move it away";
    return Files.exists(file.resolveSibling("results.jsonl"))
        ? advice + " with results.jsonl, in which what was judged still stands"
        : advice;
  }
}
