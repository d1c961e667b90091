package dev.kbx.store;

import dev.kbx.files.Resources;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * Makes the tables of a new SQLite file: runs all migrations in one transaction and writes the
 * history that Flyway, which migrates older files, would have written. Flyway takes a third of a
 * second of processor time to do the same, most of it to find the migrations.
 */
final class SqliteSchema {
  /** The migrations in order, under {@code /db}; Flyway finds the same ones. */
  private static final List<String> MIGRATIONS =
      List.of(
          "migration/V1__runs_and_verdicts.sql",
          "migration/V2__columns_and_memory.sql",
          "migration/V3__outcomes.sql",
          "common/V4__rows_and_features.sql",
          "common/V5__service.sql",
          "common/V6__pages.sql",
          "common/V7__counts.sql",
          "common/V8__cards_of_judgements.sql",
          "common/V9__counts_of_verdicts.sql",
          "common/V10__claims.sql",
          "common/V11__labels_of_runs.sql",
          "common/V12__sessions.sql");

  /** The newest version; a file with this version needs no migration. */
  static final int VERSION = MIGRATIONS.size();

  private static final Pattern NAME = Pattern.compile("\\w+/(V(\\d+)__(\\w+)\\.sql)");

  /** As Flyway makes it. */
  private static final String HISTORY =
      """
      CREATE TABLE "flyway_schema_history" (
          "installed_rank" INT NOT NULL PRIMARY KEY,
          "version" VARCHAR(50),
          "description" VARCHAR(200) NOT NULL,
          "type" VARCHAR(20) NOT NULL,
          "script" VARCHAR(1000) NOT NULL,
          "checksum" INT,
          "installed_by" VARCHAR(100) NOT NULL,
          "installed_on" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
          "execution_time" INT NOT NULL,
          "success" BOOLEAN NOT NULL
      );
      CREATE INDEX "flyway_schema_history_s_idx" ON "flyway_schema_history" ("success");
      """;

  private static final String ENTRY =
      """
      INSERT INTO "flyway_schema_history"
        (installed_rank, version, description, type, script, checksum, installed_by, execution_time, success)
      VALUES (?, ?, ?, 'SQL', ?, ?, '', 0, 1)
      """;

  private SqliteSchema() {}

  /**
   * Makes all tables in a file that has none, and commits.
   *
   * @param connection in a transaction that nobody else can write beside
   */
  static void create(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      int _ = statement.executeUpdate(HISTORY);
      for (String migration : MIGRATIONS) {
        String script = Resources.text(SqliteSchema.class, "/db/" + migration);
        int _ = statement.executeUpdate(script);
        enter(connection, migration, script);
      }
      int _ = statement.executeUpdate("PRAGMA user_version = " + VERSION);
      connection.commit();
    }
  }

  private static void enter(Connection connection, String migration, String script)
      throws SQLException {
    Matcher name = NAME.matcher(migration);
    if (!name.matches()) throw new IllegalStateException(migration);
    try (PreparedStatement entry = connection.prepareStatement(ENTRY)) {
      entry.setInt(1, Integer.parseInt(name.group(2)));
      entry.setString(2, name.group(2));
      entry.setString(3, name.group(3).replace('_', ' '));
      entry.setString(4, name.group(1));
      entry.setInt(5, checksum(script));
      int _ = entry.executeUpdate();
    }
  }

  /** Flyway's checksum of a script: CRC-32 of its lines without what ends them. */
  private static int checksum(String script) {
    CRC32 crc = new CRC32();
    script.lines().forEach(line -> crc.update(line.getBytes(StandardCharsets.UTF_8)));
    return (int) crc.getValue();
  }
}
