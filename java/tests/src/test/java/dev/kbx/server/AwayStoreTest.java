package dev.kbx.server;

import static dev.kbx.server.ScriptedServer.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.TestPostgres;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.Json;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server whose disk is full, or whose database is away, and comes back. */
@Timeout(Patience.SECONDS)
class AwayStoreTest {
  private static final int CANDIDATES = 20;

  /** After five a candidate is failed. */
  private static final int MORE_THAN_ATTEMPTS = 7;

  @TempDir private Path folder;

  private static ConditionFactory patiently() {
    return await().atMost(Patience.LIMIT);
  }

  private static String keyed(int from, int count) {
    List<Map<String, String>> some = new ArrayList<>();
    for (int i = from; i < from + count; i++) {
      some.add(Map.of("task", "Activation/relu", "code", "x = " + i, "key", "k" + i));
    }
    return Json.mapper().writeValueAsString(Map.of("candidates", some));
  }

  private static HttpResponse<String> submit(ScriptedServer server, int from, int count)
      throws Exception {
    return server.post("/v1/judgements", "application/json", keyed(from, count));
  }

  private static List<String> states(ScriptedServer server) throws Exception {
    List<String> states = new ArrayList<>();
    json(server.get("/v1/judgements?limit=1000"))
        .path("judgements")
        .forEach(each -> states.add(each.path("state").asString()));
    return states;
  }

  private static void isReady(ScriptedServer server) {
    patiently()
        .untilAsserted(() -> assertThat(server.get("/health/ready").statusCode()).isEqualTo(200));
    patiently()
        .untilAsserted(
            () -> assertThat(server.get("/metrics").body()).contains("kbx_store_up 1.0"));
  }

  private static void isAway(ScriptedServer server) {
    patiently()
        .untilAsserted(() -> {
          HttpResponse<String> ready = server.get("/health/ready");
          assertThat(ready.statusCode()).isEqualTo(503);
          assertThat(ready.headers().firstValue("Retry-After")).isPresent();
          assertThat(json(ready).path("detail").asString()).contains("the store ");
        });
    patiently()
        .untilAsserted(
            () -> assertThat(server.get("/metrics").body()).contains("kbx_store_up 0.0"));
  }

  @Test
  void fullDiskLosesNoAcceptedCandidate() throws Exception {
    try (SmallDisk disk = new SmallDisk(folder.resolve("disk"), 24);
        ScriptedServer server = new ScriptedServer(disk.folder(), true)) {
      server.as(server.token("client", "submit", "read"));
      isReady(server);
      server.referee.permits.drainPermits();
      assertThat(submit(server, 0, CANDIDATES).statusCode()).isEqualTo(202);
      disk.fill();
      server.referee.permits.release(1_000);
      isAway(server);
      // As long as it took a candidate to fail for good.
      Thread.sleep(Duration.ofSeconds(7));

      HttpResponse<String> refused = submit(server, 100, 1);
      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(refused.headers().firstValue("Retry-After")).isPresent();
      assertThat(states(server)).hasSize(CANDIDATES).doesNotContain("failed");
      assertThat(server.get("/health/live").statusCode()).isEqualTo(200);
      assertThat(server.referee.judged).hasSizeLessThan(CANDIDATES); // They wait unjudged.

      disk.free();
      patiently().untilAsserted(() -> assertThat(states(server)).containsOnly("done"));
      isReady(server);
      assertThat(submit(server, 100, 1).statusCode()).isIn(200, 202);
      patiently()
          .untilAsserted(
              () -> assertThat(states(server)).hasSize(CANDIDATES + 1).containsOnly("done"));
      String run = server.store.runs().getFirst().id();
      assertThat(server.store.count(run)).isEqualTo(CANDIDATES + 1);
    }
  }

  @Test
  void fullTemporaryFolderRefusesUploadsAndDelaysCandidates() throws Exception {
    try (SmallDisk disk = new SmallDisk(folder.resolve("scratch"), 32);
        ScriptedServer server =
            new ScriptedServer(StoreAddress.of(folder.resolve("kbx.db")), disk.folder(), false)) {
      String line =
          Json.mapper()
              .writeValueAsString(Map.of("file", "Activation/relu.py", "predict", "x = 1"));
      disk.fill();
      HttpResponse<String> refused =
          server.post("/v1/judgements", "application/x-ndjson", line + " ".repeat(1 << 16));
      assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
      assertThat(refused.headers().firstValue("Retry-After")).isPresent();
      assertThat(json(server.get("/health/ready")).path("detail").asString())
          .contains("temporary files is full");
      server.referee.failure = new IllegalStateException("the workers cannot write");
      String id = id(submit(server, 0, 1));
      Thread.sleep(Duration.ofSeconds(7)); // As long as it takes a candidate to fail for good.
      assertThat(server.get("/v1/judgements/" + id).body()).contains("\"state\":\"queued\"");
      server.referee.failure = null;
      disk.free();
      patiently().untilAsserted(() -> assertThat(states(server)).containsExactly("done"));
      HttpResponse<String> accepted = server.post("/v1/judgements", "application/x-ndjson", line);
      assertThat(accepted.statusCode()).as(accepted.body()).isIn(200, 202);
      assertThat(server.get("/health/ready").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void unreachableDatabaseIsReportedWithoutBlocking() throws Exception {
    try (KilledPostgres postgres = new KilledPostgres(folder.resolve("postgres"));
        ScriptedServer server =
            new ScriptedServer(StoreAddress.of(postgres.url()), folder, false)) {
      isReady(server);
      server.referee.permits.drainPermits();
      assertThat(submit(server, 0, 3).statusCode()).isEqualTo(202);

      postgres.freeze(true);
      isAway(server);
      assertThat(server.get("/health/live").statusCode()).isEqualTo(200);
      postgres.freeze(false);
      isReady(server);

      postgres.kill();
      server.referee.permits.release(1_000);
      isAway(server);
      assertThat(server.get("/health/live").statusCode()).isEqualTo(200);
      postgres.startAgain();
      patiently()
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(states(server)).hasSize(3).containsOnly("done"));
      isReady(server);
    }
  }

  /** The store is well each time that it is asked, and the connection is lost with each verdict. */
  @Test
  void lostConnectionsCountAgainstNoCandidate() throws Exception {
    String url = TestPostgres.newDatabase();
    try (ScriptedServer server = new ScriptedServer(StoreAddress.of(url), folder, false);
        Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE SEQUENCE lost");
      statement.execute(
          """
          CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            PERFORM nextval('public.lost');
            PERFORM pg_terminate_backend(pg_backend_pid());
            PERFORM pg_sleep(1);
            RETURN NEW;
          END $$
          """);
      statement.execute(
          "CREATE TRIGGER lose BEFORE INSERT ON kbx.verdict FOR EACH ROW EXECUTE FUNCTION lose()");
      assertThat(submit(server, 0, 1).statusCode()).isEqualTo(202);
      patiently()
          .until(() -> {
            try (ResultSet row = statement.executeQuery("SELECT last_value FROM lost")) {
              return row.next() && row.getLong(1) > MORE_THAN_ATTEMPTS;
            }
          });
      statement.execute("DROP TRIGGER lose ON kbx.verdict");
      patiently().untilAsserted(() -> assertThat(states(server)).containsExactly("done"));
    }
  }

  @Test
  void failedCandidateIsQueuedAgainUnderItsKey() throws Exception {
    try (ScriptedServer server = new ScriptedServer(folder, false)) {
      server.referee.failure = new IllegalStateException("the workers are gone");
      String id = id(submit(server, 0, 1));
      patiently().untilAsserted(() -> assertThat(states(server)).containsExactly("failed"));
      patiently()
          .untilAsserted(
              () -> // Then it is in the store.
              assertThat(
                          server
                              .store
                              .service()
                              .submissions(List.of(id))
                              .getFirst()
                              .outcome()
                              .message())
                      .contains("the workers are gone"));

      server.referee.failure = null;
      HttpResponse<String> again = submit(server, 0, 1);
      assertThat(again.statusCode()).as(again.body()).isEqualTo(202);
      assertThat(id(again)).isEqualTo(id);
      patiently().untilAsserted(() -> assertThat(states(server)).containsExactly("done"));
      assertThat(submit(server, 0, 1).statusCode()).isEqualTo(200);
      assertThat(server.referee.judged).hasSize(1);
    }
  }

  private static String id(HttpResponse<String> accepted) {
    return json(accepted).path("judgements").path(0).path("id").asString();
  }

  @Test
  void judgingGoesOnAfterAFaultOfTheDispatcher() throws Exception {
    try (ScriptedServer server = new ScriptedServer(folder, false)) {
      server.referee.fault = new AssertionError("a fault");
      assertThat(submit(server, 0, 1).statusCode()).isEqualTo(202);
      Thread.sleep(Duration.ofSeconds(2)); // It is met.
      server.referee.fault = null;
      patiently().untilAsserted(() -> assertThat(states(server)).containsExactly("done"));
      assertThat(server.get("/health/live").statusCode()).isEqualTo(200);
    }
  }
}
