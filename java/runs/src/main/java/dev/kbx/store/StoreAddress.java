package dev.kbx.store;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Location of runs and verdicts: an SQLite file, or a PostgreSQL database. */
public final class StoreAddress {
  private static final String POSTGRESQL = "jdbc:postgresql:";

  /** A user before the host, which the driver would take for part of the host's name. */
  private static final Pattern USER = Pattern.compile("jdbc:postgresql://[^/?]*@");

  private final Database database;

  private StoreAddress(Database database) {
    this.database = database;
  }

  /** An SQLite file, which need not exist. */
  public static StoreAddress of(Path file) {
    return new StoreAddress(new SqliteDatabase(file));
  }

  /**
   * A PostgreSQL database.
   *
   * @param url {@code jdbc:postgresql://HOST/DATABASE?user=...}
   * @throws IllegalArgumentException with the reason, for any other text
   */
  public static StoreAddress of(String url) {
    if (!url.startsWith(POSTGRESQL)) {
      throw new IllegalArgumentException(
          PostgresDatabase.masked(url) + ": must be jdbc:postgresql://HOST/DATABASE");
    }
    if (USER.matcher(url).lookingAt()) {
      throw new IllegalArgumentException(
          PostgresDatabase.masked(url)
              + ": give the user as ?user=NAME, and the password as &password=... or in ~/.pgpass");
    }
    return new StoreAddress(new PostgresDatabase(url));
  }

  /**
   * Throws {@link StoreProblem} if there can be no store: a folder is in the file's place, or the
   * server does not answer. Makes nothing.
   */
  public void check() {
    database.check();
  }

  /** Whether there may be runs already; true for a database, which is asked when it is opened. */
  public boolean exists() {
    return !(database instanceof SqliteDatabase(Path file)) || Files.exists(file);
  }

  /** Whether it is a file. */
  public boolean isFile() {
    return database instanceof SqliteDatabase;
  }

  Database database() {
    return database;
  }

  /** Name for messages, without a password. */
  @Override
  public String toString() {
    return database.label();
  }
}
