package dev.kbx.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
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
    Files.copy(Path.of("src/test/resources/store/kbx-0.1.0-schema-1.db"), file);
  }

  @Test
  void everyRunVerdictAndSourceIsThere() {
    assertAllIsThere();
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
            .allSatisfy(v -> assertThat(store.source(v.candidate())).isPresent());
      }
      assertThat(store.verdicts(FINISHED).values())
          .extracting(Verdict::status)
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
  void whatIsCountedByIsInColumns() throws Exception {
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
  void openedAgainNothingChanges() {
    RunStore.open(StoreAddress.of(file)).close();
    assertAllIsThere();
  }
}
