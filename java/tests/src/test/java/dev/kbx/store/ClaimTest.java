package dev.kbx.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.SimulatedRun;
import dev.kbx.TestPostgres;
import dev.kbx.store.ServiceStore.Audit;
import dev.kbx.store.ServiceStore.ServiceRun;
import dev.kbx.store.ServiceStore.Token;
import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims over connections that are cut, on a real PostgreSQL, and on SQLite without its lock. */
class ClaimTest {
  private static final String RUN = SimulatedRun.on(SimulatedRun.A100, 1).id();

  private final List<RunStore> opened = new ArrayList<>();
  private final String url = TestPostgres.newDatabase();

  @TempDir private Path folder;

  @AfterEach
  void close() {
    opened.forEach(RunStore::close);
  }

  private RunStore open(StoreAddress address) {
    RunStore store = RunStore.open(address);
    opened.add(store);
    return store;
  }

  private static SimulatedRun run(int number) {
    return SimulatedRun.on(SimulatedRun.A100, number)
        .correct("Activation/gelu", "a" + number, 2.0)
        .correct("Activation/relu", "b" + number, 2.0);
  }

  /** Ends all connections of the database but this one. */
  private void cut() throws Exception {
    try (Connection connection = DriverManager.getConnection(url)) {
      connection
          .createStatement()
          .execute(
              "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                  + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    }
  }

  /** All that writes. */
  private static Map<String, ThrowingCallable> writes(RunStore store, Verdict verdict) {
    ServiceStore service = store.service();
    Instant now = Instant.EPOCH;
    RunInfo other = run(7).info();
    Map<String, ThrowingCallable> writes = new LinkedHashMap<>();
    writes.put("begin", () -> store.begin(other));
    writes.put("finish", () -> store.finish(run(1).info()));
    writes.put("add", () -> store.add(90, verdict, "x = 1"));
    writes.put("remember", () -> store.remember("key", "c", verdict.judgement()));
    writes.put("delete", () -> store.delete(List.of(RUN)));
    writes.put("copy", () -> store.copy(List.of()));
    writes.put(
        "accept",
        () ->
            service.accept(
                List.of(), List.of(), Map.of("c", "x"), new Audit(now, "a", "submit", "")));
    writes.put("settle", () -> service.settle(List.of(queued("local"))));
    writes.put("assign", () -> service.assign(List.of(queued("local"))));
    writes.put("add of the service", () -> service.add(90, verdict, false));
    writes.put(
        "begin of the service",
        () -> service.begin(new ServiceRun("s", other.id(), "name", "{}"), other));
    writes.put(
        "addToken", () -> service.addToken(new Token("t", "h", List.of("read"), now, null, null)));
    writes.put("revokeToken", () -> service.revokeToken("t", now));
    writes.put("audit", () -> service.audit(new Audit(now, "a", "submit", "")));
    return writes;
  }

  private static Submission queued(String client) {
    return new Submission(
        "j_1",
        client,
        null,
        RUN,
        null,
        new CandidateIdentity("suite", "Category/task", null, null, 0, null, "hash"),
        Map.of(),
        "api",
        0,
        Instant.EPOCH,
        null,
        null,
        Submission.Outcome.NONE);
  }

  /** As of two servers whose clocks differ. */
  @Test
  void idOfAnotherSubmissionIsRefused() {
    RunStore store = open(StoreAddress.of(folder.resolve("kbx.db")));
    run(1).store(store);
    accept(store, queued("ann"));
    assertThatThrownBy(() -> accept(store, queued("bob"))).isInstanceOf(StoreProblem.class);
    assertThat(store.service().submissions(List.of("j_1")))
        .extracting(Submission::client)
        .containsExactly("ann");
  }

  private static void accept(RunStore store, Submission submission) {
    store
        .service()
        .accept(
            List.of(submission),
            List.of(),
            Map.of("hash", "x"),
            new Audit(Instant.EPOCH, submission.client(), "submit", ""));
  }

  private static void assertFenced(RunStore store, Verdict verdict) {
    writes(store, verdict)
        .forEach((what, write) -> assertThatThrownBy(write).as(what).isInstanceOf(ClaimLost.class));
    assertThat(store.claimLost()).isTrue();
    assertThatThrownBy(store::checkClaims)
        .isInstanceOf(ClaimLost.class)
        .hasMessageContaining("run %s was taken over by another kbx".formatted(RUN));
    assertThat(store.count(RUN)).isEqualTo(2);
    assertThat(store.service().tokens()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void formerOwnerOfATakenOverRunWritesNothing(boolean stillThere) throws Exception {
    RunStore first = open(StoreAddress.of(url));
    SimulatedRun run = run(1).store(first);
    Verdict verdict = first.verdict(RUN, 0);
    cut();
    RunStore second = open(StoreAddress.of(url));
    second.claim(RUN);
    if (!stillThere) second.close();
    assertThatThrownBy(() -> first.count(RUN)).isInstanceOf(StoreProblem.class);
    assertFenced(first, verdict);
    assertThat(run.id()).isEqualTo(RUN);
  }

  /** Its connection is made anew before another comes. */
  @Test
  void lostConnectionWithoutTakeoverContinues() throws Exception {
    RunStore first = open(StoreAddress.of(url));
    SimulatedRun run = run(1).store(first);
    cut();
    assertThatThrownBy(() -> first.count(RUN)).isInstanceOf(StoreProblem.class);
    first.checkClaims();
    first.finish(run.info());
    assertThat(first.claimLost()).isFalse();
    RunStore second = open(StoreAddress.of(url));
    assertThatThrownBy(() -> second.claim(RUN)).hasMessageContaining("being judged by another kbx");
    assertThatCode(() -> first.finish(run.info())).doesNotThrowAnyException();
  }

  /** A folder's lock may fail: on a network file system, or after its file was deleted. */
  @Test
  void theLaterOfTwoWritersHasAFile() {
    StoreAddress address = StoreAddress.of(folder.resolve("kbx.db"));
    RunStore first = open(address);
    run(1).store(first);
    RunStore second = open(address);
    second.claim(RUN);
    assertFenced(first, first.verdict(RUN, 0));
    second.finish(run(1).info());
  }

  @Test
  void commitIsSynchronousWhateverTheServerDefault() throws Exception {
    try (Connection usual = DriverManager.getConnection(url);
        Connection ours = StoreAddress.of(url).database().connect()) {
      assertThat(setting(usual, "synchronous_commit")).isEqualTo("off");
      assertThat(setting(ours, "synchronous_commit")).isEqualTo("on");
    }
    // That server of the tests runs without fsync.
    assertThat(open(StoreAddress.of(url)).notDurable().orElseThrow()).contains("fsync is off");
    assertThat(open(StoreAddress.of(folder.resolve("k.db"))).notDurable()).isEmpty();
  }

  private static String setting(Connection connection, String name) throws Exception {
    try (var rows = connection.createStatement().executeQuery("SHOW " + name)) {
      rows.next();
      return rows.getString(1);
    }
  }
}
