package dev.kbx.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.TestPostgres;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file of kbx 0.1.0 with its first schema: three runs of which one was killed. */
class MigrationTest {
  private static final String FINISHED = "20261124T021806-kdkr";
  private static final String STATIC = "20261124T021814-phqt";
  private static final String KILLED = "20261124T021821-hdtb";

  @TempDir private Path folder;
  private Path file;

  @BeforeEach
  void copy() throws Exception {
    file = folder.resolve("kbx.db");
    Files.copy(Path.of("java/tests/src/test/resources/store/kbx-0.1.0-schema-1.db"), file);
  }

  @Test
  void allRunsVerdictsAndSourcesAreMigrated() {
    assertAllIsThere();
  }

  @Test
  void aNewFileHasTheTablesAndTheHistoryThatFlywayMakes() throws Exception {
    Path made = folder.resolve("made.db");
    Path migrated = folder.resolve("migrated.db");
    RunStore.open(StoreAddress.of(made)).close();
    Flyway byFlyway = flyway(migrated);
    byFlyway.migrate();
    assertThat(rows(made, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid"))
        .isEqualTo(
            rows(migrated, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid"))
        .hasSizeGreaterThan(20);
    String history =
        "SELECT installed_rank, version, description, type, script, checksum, installed_by, success"
            + " FROM flyway_schema_history ORDER BY installed_rank";
    assertThat(rows(made, history)).isEqualTo(rows(migrated, history)).isNotEmpty();
    assertThat(rows(made, "PRAGMA user_version"))
        .containsExactly(List.of(String.valueOf(rows(migrated, history).size())));
    flyway(made).validate(); // Throws unless names and checksums are those of the migrations.
    assertThat(flyway(made).migrate().migrationsExecuted).isZero();
  }

  private static Flyway flyway(Path database) {
    return Flyway.configure()
        .dataSource("jdbc:sqlite:" + database, null, null)
        .locations("classpath:db/migration", "classpath:db/common")
        .load();
  }

  private static List<List<String>> rows(Path database, String query) throws Exception {
    List<List<String>> rows = new ArrayList<>();
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + database);
        ResultSet found = connection.createStatement().executeQuery(query)) {
      int width = found.getMetaData().getColumnCount();
      while (found.next()) {
        List<String> row = new ArrayList<>();
        for (int i = 1; i <= width; i++) row.add(String.valueOf(found.getString(i)));
        rows.add(row);
      }
    }
    return rows;
  }

  private void assertAllIsThere() {
    try (RunStore store = RunStore.open(StoreAddress.of(file))) {
      assertThat(store.runs()).extracting(RunInfo::id).containsExactly(KILLED, STATIC, FINISHED);
      assertThat(store.runs()).filteredOn(run -> run.finished() == null).hasSize(1);
      assertThat(store.count(FINISHED)).isEqualTo(8);
      assertThat(store.count(STATIC)).isEqualTo(18);
      assertThat(store.count(KILLED)).isEqualTo(4);
      for (String run : List.of(FINISHED, STATIC, KILLED)) {
        assertThat(store.verdicts(run).values())
            .allSatisfy(v -> assertThat(store.source(v.provenance().candidate())).isPresent());
      }
      assertThat(store.queries().counts(List.of(FINISHED, STATIC, KILLED)))
          .allSatisfy((run, counts) -> assertThat(counts.verdicts()).isEqualTo(store.count(run)))
          .hasSize(3);
      assertThat(store.flaws()).isEmpty();
      assertThat(store.verdicts(FINISHED).values())
          .extracting(v -> v.judgement().status())
          .contains(Status.CORRECT, Status.NO_CODE, Status.WRONG_VALUES);
    }
  }

  @Test
  void aKilledRunKnowsItsCandidates() {
    try (RunStore store = RunStore.open(StoreAddress.of(file))) {
      List<CandidateIdentity> byBody =
          store.verdicts(KILLED).values().stream().map(v -> v.provenance().identity()).toList();
      assertThat(store.judged(KILLED))
          .extracting(RunStore.Judged::identity)
          .containsExactlyInAnyOrderElementsOf(byBody);
    }
  }

  @Test
  void countedFieldsAreInColumns() throws Exception {
    RunStore.open(StoreAddress.of(file)).close();
    List<String> rows = new ArrayList<>();
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        ResultSet found =
            connection
                .createStatement()
                .executeQuery(
                    """
                    SELECT coalesce(method, '') || '|' || category || '|' || status || '|' || count(*)
                      || '|' || sum(exe_ok)
                    FROM verdict WHERE run = '%s' GROUP BY method, category, status
                    """
                        .formatted(FINISHED))) {
      while (found.next()) rows.add(found.getString(1));
    }
    assertThat(rows)
        .contains("|Activation|correct|2|2", "|Activation|wrong_values|2|0")
        .allMatch(row -> row.startsWith("|"));
  }

  @Test
  void rowsAreReadFromVerdictsAndFeaturesAreNotKnown() {
    try (RunStore store = RunStore.open(StoreAddress.of(file))) {
      List<BriefVerdict> rows = new ArrayList<>();
      store.forEachRow(FINISHED, stored -> rows.add(stored.verdict()));
      assertThat(rows)
          .isEqualTo(store.verdicts(FINISHED).values().stream().map(BriefVerdict::of).toList())
          .allMatch(row -> row.features() == null && row.conditions().isEmpty());
    }
  }

  /** A team's database as version 3 left it. */
  @Test
  void aDatabaseOfATeamKeepsItsVerdicts() throws Exception {
    String url = TestPostgres.newDatabase();
    Flyway.configure()
        .dataSource(url, null, null)
        .schemas("kbx")
        .locations("classpath:db/postgresql", "classpath:db/common")
        .target("3")
        .load()
        .migrate();
    Verdict verdict;
    try (RunStore old = RunStore.open(StoreAddress.of(file))) {
      verdict = old.verdict(FINISHED, 0);
      insert(url, Json.mapper().writeValueAsString(old.run(FINISHED).orElseThrow()), verdict);
    }
    try (RunStore store = RunStore.open(StoreAddress.of(url))) {
      assertThat(store.verdict(FINISHED, 0)).isEqualTo(verdict);
      List<BriefVerdict> rows = new ArrayList<>();
      store.forEachRow(FINISHED, stored -> rows.add(stored.verdict()));
      assertThat(rows).containsExactly(BriefVerdict.of(verdict));
    }
  }

  /** As version 8 left a copied run: its table of counts had none of it. */
  @Test
  void runsCopiedBeforeTheMigrationAreCounted() throws Exception {
    Flyway.configure()
        .dataSource("jdbc:sqlite:" + file, null, null)
        .locations("classpath:db/migration", "classpath:db/common")
        .target("8")
        .load()
        .migrate();
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        var statement = connection.createStatement()) {
      assertThat(statement.executeUpdate("DELETE FROM verdict_count")).isPositive();
    }
    assertAllIsThere();
  }

  private static void insert(String url, String info, Verdict verdict) throws Exception {
    try (Connection connection = DriverManager.getConnection(url)) {
      insert(connection, "run (id, started, info)", FINISHED, "2026-11-24T02:18:06Z", info);
      insert(connection, "source (candidate, code)", verdict.provenance().candidate(), "x = 1");
      insert(
          connection,
          "verdict (position, run, identity, candidate, suite, category, task, sample, status,"
              + " stage, device, body)",
          0,
          FINISHED,
          "i",
          verdict.provenance().candidate(),
          verdict.provenance().suite(),
          verdict.provenance().category(),
          verdict.provenance().task(),
          0,
          verdict.judgement().status().label(),
          verdict.judgement().stage().label(),
          verdict.judgement().device().name(),
          Json.mapper().writeValueAsString(verdict));
    }
  }

  private static void insert(Connection connection, String into, Object... values)
      throws Exception {
    String marks = String.join(", ", Collections.nCopies(values.length, "?"));
    try (var statement =
        connection.prepareStatement("INSERT INTO kbx." + into + " VALUES (" + marks + ")")) {
      for (int i = 0; i < values.length; i++) statement.setObject(i + 1, values[i]);
      statement.executeUpdate();
    }
  }

  @Test
  void reopeningChangesNothing() {
    RunStore.open(StoreAddress.of(file)).close();
    assertAllIsThere();
  }
}
