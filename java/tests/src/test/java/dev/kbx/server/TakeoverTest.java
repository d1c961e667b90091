package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.TestPostgres;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.store.Submission;
import dev.kbx.verdict.Json;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two servers on one PostgreSQL; the connections of the first are cut, and the second takes over.
 */
@Timeout(Patience.SECONDS)
class TakeoverTest {
  private static final Pattern PORT = Pattern.compile("//[^:/]+:(\\d+)/");

  private final String url = TestPostgres.newDatabase();

  @TempDir private Path folder;

  private CutProxy proxy() throws Exception {
    Matcher found = PORT.matcher(url);
    assertThat(found.find()).isTrue();
    return new CutProxy(Integer.parseInt(found.group(1)));
  }

  private String through(CutProxy proxy) {
    return PORT.matcher(url).replaceFirst("//localhost:%d/".formatted(proxy.port()));
  }

  private SharedServer serve(String address, int permits) {
    return new SharedServer(
        StoreAddress.of(address), folder, permits, ScriptedReferee.DEVICE, "1", "kernelbenchx");
  }

  @Test
  void secondServerTakesOverAndJudgesEachCandidateOnce() throws Exception {
    Queue<String> logged = new ConcurrentLinkedQueue<>();
    Handler handler = collecting(logged);
    Logger log = Logger.getLogger("dev.kbx.server");
    log.addHandler(handler);
    try (CutProxy proxy = proxy();
        SharedServer first = serve(through(proxy), 0)) {
      List<String> ids = first.ids(0, 10);
      await()
          .atMost(Patience.LIMIT)
          .until(() -> first.get("/v1/queue").body().contains("\"judging\":6"));
      FutureTask<HttpResponse<String>> poll =
          new FutureTask<>(() -> first.get("/v1/judgements/" + ids.getLast() + "?wait=60"));
      var _ = Thread.startVirtualThread(poll);
      proxy.cut();
      try (SharedServer second = serve(url, 1_000)) {
        await().atMost(Patience.LIMIT).until(() -> second.store.service().queued().isEmpty());
        proxy.heal();
        first.referee.permits.release(1_000); // What it had begun comes to its end now.
        await().atMost(Patience.LIMIT).until(() -> first.get("/health/ready").statusCode() == 503);
        assertThat(first.get("/health/ready").body()).contains("another kbx serve has taken over");
        // Who waited is answered with what is stored, unless the connection that reads was cut,
        // too.
        assertThat(poll.get().body()).containsAnyOf("\"state\":\"done\"", "does not answer");
        await()
            .atMost(Patience.LIMIT)
            .until(() -> first.get("/v1/judgements/" + ids.getFirst()).statusCode() == 200);

        HttpResponse<String> refused = first.submit(100, 1);
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.body()).contains("another kbx serve has taken over");
        assertThat(refused.headers().firstValue("Retry-After")).isPresent();
        for (String id : ids) {
          assertThat(first.judgement(id).path("verdict").path("status").asString())
              .isEqualTo("correct");
        }

        assertThat(second.get("/health/ready").statusCode()).isEqualTo(200);
        assertThat(second.ids(200, 1)).hasSize(1);
        await().atMost(Patience.LIMIT).until(() -> second.store.service().queued().isEmpty());
        assertThat(second.referee.judged).hasSize(11).doesNotHaveDuplicates();
        String run = second.store.runs().getFirst().id();
        assertThat(second.store.runs()).hasSize(1);
        assertThat(second.store.count(run)).isEqualTo(11);
      }
    } finally {
      log.removeHandler(handler);
    }
    assertThat(logged).filteredOn(line -> line.contains("has taken over")).hasSize(1);
  }

  private static Handler collecting(Queue<String> lines) {
    return new Handler() {
      @Override
      public void publish(LogRecord each) {
        lines.add(each.getMessage());
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
  }

  /** Nobody else came: it takes its claim again, and goes on. */
  @Test
  void reconnectedServerContinuesWithoutTakeover() throws Exception {
    try (CutProxy proxy = proxy();
        SharedServer server = serve(through(proxy), 0)) {
      List<String> ids = server.ids(0, 4);
      proxy.cut();
      server.referee.permits.release(1_000);
      proxy.heal();
      await()
          .atMost(Patience.LIMIT)
          .until(() -> server.judgement(ids.getLast()).path("state").asString().equals("done"));
      assertThat(server.get("/health/ready").statusCode()).isEqualTo(200);
      assertThat(server.ids(100, 1)).hasSize(1);
    }
  }

  /** Processes, while clients submit. */
  @Tag("soak-only")
  @Test
  void nothingIsLostOrJudgedTwice() throws Exception {
    HttpClient http = HttpClient.newHttpClient();
    List<String> accepted = new ArrayList<>();
    try (CutProxy proxy = proxy();
        ServerProcess first = ServerProcess.start(through(proxy), folder, false, 5_000)) {
      for (int i = 0; i < 40; i++) {
        HttpResponse<String> answer = submit(http, first, i);
        if (answer.statusCode() == 202 || answer.statusCode() == 200) {
          SharedServer.json(answer)
              .path("judgements")
              .forEach(each -> accepted.add(each.path("id").asString()));
        }
        if (i == 30) proxy.cut();
      }
      try (ServerProcess second = ServerProcess.start(url, folder, false, 5_000);
          RunStore store = RunStore.open(StoreAddress.of(url))) {
        proxy.heal();
        await().atMost(Patience.LIMIT).until(() -> store.service().queued().isEmpty());
        await()
            .atMost(Patience.LIMIT)
            .until(() -> submit(http, first, 99).body().contains("has taken over"));
        assertThat(submit(http, second, 99).statusCode()).isBetween(200, 202);
        await().atMost(Patience.LIMIT).until(() -> store.service().queued().isEmpty());
        Set<String> identities = new HashSet<>();
        for (Submission each : store.service().submissions(accepted)) {
          assertThat(each.state()).isEqualTo(Submission.State.DONE);
          identities.add(each.run() + each.identity().text());
        }
        assertThat(accepted).hasSizeGreaterThanOrEqualTo(300).doesNotHaveDuplicates();
        assertThat(identities).hasSameSizeAs(accepted);
        int verdicts = store.runs().stream().mapToInt(run -> store.count(run.id())).sum();
        assertThat(verdicts)
            .isEqualTo(store.service().submissions(null, null, null, 10_000).size());
      }
    } finally {
      http.close();
    }
  }

  private static HttpResponse<String> submit(HttpClient http, ServerProcess server, int number)
      throws Exception {
    List<Map<String, String>> candidates = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      candidates.add(Map.of("task", "Activation/relu", "code", Load.source(10 * number + i)));
    }
    return http.send(
        HttpRequest.newBuilder(URI.create(server.url() + "/v1/judgements"))
            .header("Content-Type", "application/json")
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    Json.mapper().writeValueAsString(Map.of("candidates", candidates))))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }
}
