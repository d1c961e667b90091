package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.TestPostgres;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.store.Submission;
import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A copy of a store in use, made as docs/serve.md says, is a store. */
class BackupTest {
  private static final String RUN = "20261126T000000-back";

  @TempDir private Path folder;

  @Test
  void queuedCandidatesAreInABackupOfAStoreInUse() throws Exception {
    Path copy = folder.resolve("kbx-backup.db");
    try (RunStore store = RunStore.open(StoreAddress.of(folder.resolve("kbx.db")))) {
      store.begin(run());
      accept(store, "j_1");
      String from = "jdbc:sqlite:" + folder.resolve("kbx.db");
      try (var connection = DriverManager.getConnection(from);
          var statement = connection.createStatement()) {
        statement.executeUpdate("backup to '%s'".formatted(copy));
      }
      accept(store, "j_2"); // It is used on.
    }
    try (RunStore restored = RunStore.open(StoreAddress.of(copy))) {
      assertThat(restored.runs()).extracting(RunInfo::id).containsExactly(RUN);
      assertThat(restored.service().queued()).extracting(Submission::id).containsExactly("j_1");
      accept(restored, "j_3");
      assertThat(restored.service().work("j_3").orElseThrow().code()).isEqualTo("x = 1");
    }
  }

  /** By the two commands of docs/serve.md, into an empty database. */
  @Test
  void queuedCandidatesAreInADumpOfADatabaseInUse() throws Exception {
    String from = TestPostgres.newDatabase();
    String to = TestPostgres.newDatabase();
    Path dump = folder.resolve("kbx.sql");
    try (RunStore store = RunStore.open(StoreAddress.of(from))) {
      store.begin(run());
      accept(store, "j_1");
      needsNoError("pg_dump", "-n", "kbx", "-f", dump.toString(), address(from));
      accept(store, "j_2"); // It is used on.
    }
    needsNoError("psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", dump.toString(), "-d", address(to));
    try (RunStore restored = RunStore.open(StoreAddress.of(to))) {
      assertThat(restored.runs()).extracting(RunInfo::id).containsExactly(RUN);
      assertThat(restored.service().queued()).extracting(Submission::id).containsExactly("j_1");
      accept(restored, "j_3");
      assertThat(restored.service().work("j_3").orElseThrow().code()).isEqualTo("x = 1");
    }
  }

  /** Of its programs the tests' PostgreSQL has the server alone. */
  private static void needsNoError(String... command) throws Exception {
    Process process;
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      Assumptions.abort("no %s: PostgreSQL's backup is not tested".formatted(command[0]));
      return;
    }
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }

  /** Of a database, for PostgreSQL's own programs. */
  private static String address(String jdbc) {
    String[] parts = jdbc.substring("jdbc:".length()).split("\\?user=", 2);
    return parts[0].replace("://", "://" + parts[1] + "@");
  }

  private static RunInfo run() {
    return new RunInfo(
        RUN,
        Instant.EPOCH,
        null,
        List.of("service"),
        "suite",
        "*",
        List.of(),
        List.of(),
        new Verdict.Device("cpu", "scripted", null, null, null),
        Map.of(),
        0,
        1,
        "eager",
        "model",
        "published",
        "fp32",
        "kernel",
        false,
        null,
        null,
        null,
        null);
  }

  private static void accept(RunStore store, String id) {
    Instant now = Instant.EPOCH;
    CandidateIdentity identity =
        new CandidateIdentity("suite", "Category/task", null, null, 0, null, "hash");
    Submission submission =
        new Submission(
            id,
            "local",
            null,
            RUN,
            null,
            identity,
            Map.of(),
            "api",
            0,
            now,
            null,
            null,
            Submission.Outcome.NONE);
    store
        .service()
        .accept(
            List.of(submission),
            List.of(),
            Map.of("hash", "x = 1"),
            new ServiceStore.Audit(now, "local", "submit", id));
  }
}
