package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.store.RunStore;
import dev.kbx.store.Session;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * 64 sessions at a time, each turn judged by workers that take half a second and no processor:
 * {@code bench/sessions.sh} shows what it prints.
 */
@Tag("soak-only")
@Timeout(300)
class SessionLoadTest {
  private static final int SESSIONS = 64;
  private static final int TURNS = 4;
  private static final int MOST_MILLIS = 1_000;
  private static final Duration TIME =
      Duration.ofSeconds(Integer.getInteger("kbx.load.seconds", 20));
  private static final Duration WARMING = Duration.ofSeconds(8);

  /**
   * Seconds that the median turn may take beside judging; without a limit where the machine has
   * other work.
   */
  private static final double MOST_MEDIAN =
      Double.parseDouble(System.getProperty("kbx.load.median", "Infinity"));

  private static final Duration PATIENCE = Duration.ofSeconds(90);

  @TempDir private Path folder;

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicBoolean warm = new AtomicBoolean();
  private final AtomicInteger sources = new AtomicInteger();
  private final Queue<Double> waits = new ConcurrentLinkedQueue<>();
  private final Queue<String> surprises = new ConcurrentLinkedQueue<>();

  /** Seconds of processors that the server took. */
  private double processor;

  /** The turns that clients were answered, by session, with their judgements. */
  private final Map<String, List<String>> answered = new ConcurrentHashMap<>();

  @Test
  void turnsOfManySessionsAreAnswered() throws Exception {
    double seconds = load(0);
    List<Double> sorted = waits.stream().sorted().toList();
    double median = sorted.get(sorted.size() / 2);
    System.out.printf(
        "%d sessions: %.0f turns/s; beside judging median %.1f ms, p99 %.1f ms of %d; server %.1f"
            + " ms of a processor a turn%n",
        SESSIONS,
        sorted.size() / seconds,
        1e3 * median,
        1e3 * sorted.get(sorted.size() * 99 / 100),
        sorted.size(),
        1e3 * processor / sorted.size());
    assertThat(median).isLessThan(MOST_MEDIAN);
  }

  @Test
  void nothingIsLostWhenTheServerIsKilled() throws Exception {
    double seconds = load(3);
    System.out.printf(
        "%d sessions, server killed 3 times: %.0f turns/s%n", SESSIONS, waits.size() / seconds);
  }

  private double load(int kills) throws Exception {
    String store = folder.resolve("kbx.db").toString();
    Map<String, String> environment =
        Map.of(
            InstantServer.MILLIS, Integer.toString(MOST_MILLIS),
            InstantServer.SLOTS, Integer.toString(SESSIONS));
    double seconds;
    try (ServerProcess server = ServerProcess.start(store, folder, false, 10_000, environment)) {
      List<Thread> clients = new ArrayList<>();
      for (int i = 0; i < SESSIONS; i++) {
        clients.add(Thread.startVirtualThread(() -> sessions(server.url())));
      }
      Thread.sleep(WARMING);
      warm.set(true);
      long start = System.nanoTime();
      double begun = server.processorSeconds();
      for (int i = 0; i < kills; i++) {
        Thread.sleep(TIME.dividedBy(kills + 1));
        server.killAndStart();
      }
      Thread.sleep(TIME.dividedBy(kills + 1));
      over.set(true);
      seconds = (System.nanoTime() - start) / 1e9;
      processor = server.processorSeconds() - begun;
      for (Thread client : clients) assertThat(client.join(PATIENCE)).isTrue();
    }
    assertThat(surprises).isEmpty();
    check(store);
    return seconds;
  }

  private void sessions(String url) {
    try {
      while (!over.get()) session(url);
    } catch (Exception | AssertionError e) {
      surprises.add(e.toString());
    }
  }

  private void session(String url) throws Exception {
    String name = "session-" + sources.getAndIncrement();
    JsonNode begun =
        send(url + "/v1/sessions", Map.of("task", "relu", "run", "load", "key", name), 201);
    String id = begun.path("id").asString();
    List<String> judgements = new ArrayList<>();
    answered.put(id, judgements);
    for (int turn = 0; turn < TURNS; turn++) {
      String code = "x = %d\n".formatted(sources.getAndIncrement());
      long start = System.nanoTime();
      Map<String, String> body = Map.of("code", code, "key", "turn-" + turn);
      JsonNode found = send(url + "/v1/sessions/" + id + "/turns?wait=30", body, 200);
      double took = (System.nanoTime() - start) / 1e9;
      if (warm.get()) waits.add(took - found.at("/verdict/seconds/call").asDouble());
      judgements.add(found.path("judgement").asString());
      assertThat(found.path("number").asInt()).isEqualTo(turn);
    }
    JsonNode end = send(url + "/v1/sessions/" + id + "/final?wait=30", Map.of(), 200);
    assertThat(end.path("reward").asDouble()).isPositive();
  }

  /** Sends it until it has this answer: 202 says that it is being judged. */
  private JsonNode send(String url, Map<String, String> body, int wanted) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .header("Content-Type", "application/json")
            .timeout(Duration.ofSeconds(40))
            .POST(HttpRequest.BodyPublishers.ofString(Json.mapper().writeValueAsString(body)))
            .build();
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (System.nanoTime() < end) {
      try {
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() == wanted) return Json.mapper().readTree(answer.body());
        if (answer.statusCode() != 202 && answer.statusCode() != 503) {
          throw new AssertionError(answer.statusCode() + " " + answer.body());
        }
      } catch (IOException e) {
        Thread.sleep(100); // The server is away.
      }
    }
    throw new AssertionError("no answer: " + url);
  }

  private void check(String store) {
    try (RunStore opened = RunStore.open(InstantServer.address(store))) {
      int turns = 0;
      Set<String> kernels = new HashSet<>();
      String run = opened.runs().getFirst().id();
      for (Session session : opened.sessions().of(run)) {
        List<Session.Turn> found = opened.sessions().turns(session.id());
        assertThat(found).allMatch(turn -> turn.judgement() != null);
        List<String> ids = found.stream().map(turn -> turn.submission().id()).toList();
        assertThat(ids).isEqualTo(answered.get(session.id()));
        found.forEach(turn -> kernels.add(turn.submission().identity().source()));
        turns += found.size();
        assertThat(session.end().state()).isEqualTo(Session.State.ANSWERED);
      }
      assertThat(kernels).as("no kernel is taken as two turns").hasSize(turns);
      assertThat(opened.sessions().of(run)).hasSameSizeAs(answered.keySet());
      assertThat(opened.count(run)).isEqualTo(answered.size());
      assertThat(opened.flaws()).isEmpty();
    }
  }
}
