package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.store.Submission;
import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A copy of an SQLite store that is in use, by SQLite's own online backup, is a store. */
class BackupTest {
  private static final String RUN = "20261126T000000-back";

  @TempDir private Path folder;

  @Test
  void whatWaitsIsInTheBackupOfAStoreInUse() throws Exception {
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
      assertThat(restored.service().pending()).extracting(Submission::id).containsExactly("j_1");
      accept(restored, "j_3");
      assertThat(restored.service().work("j_3").orElseThrow().code()).isEqualTo("x = 1");
    }
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
            identity,
            Map.of(),
            "api",
            0,
            now,
            null,
            Submission.State.QUEUED,
            null,
            false,
            null,
            null);
    store
        .service()
        .accept(
            List.of(submission),
            Map.of("hash", "x = 1"),
            new ServiceStore.Audit(now, "local", "submit", id));
  }
}
