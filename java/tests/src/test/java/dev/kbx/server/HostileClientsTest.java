package dev.kbx.server;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.server.RawConnection.Answer;
import dev.kbx.verdict.Json;
import io.helidon.webserver.WebServer;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients over real sockets that want the server to fail; docs/serve.md has the limits. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(Patience.SECONDS)
class HostileClientsTest {
  private static final int BODY = 200_000_000;

  /** Less than any timeout of the server, and more than a slow machine needs. */
  private static final Duration SOON = Duration.ofSeconds(15);

  private ScriptedServer server;
  private String token;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    server = new ScriptedServer(folder, true);
    token = server.token("ann", "submit", "read");
  }

  @AfterAll
  void stop() {
    server.close();
  }

  private String head(String line, String... headers) {
    String more = Stream.of(headers).map(each -> each + "\r\n").collect(joining());
    return "%s HTTP/1.1\r\nHost: kbx\r\nAuthorization: Bearer %s\r\n%s\r\n"
        .formatted(line, token, more);
  }

  private RawConnection open() throws IOException {
    return RawConnection.to(server.url());
  }

  private void needService() throws Exception {
    assertThat(server.as(token).get("/v1/queue").statusCode()).isEqualTo(200);
  }

  /** A thousand ids may be asked for; a longer line is refused in one line. */
  @Test
  void aLongAddressIsAnswered() throws Exception {
    String ids = IntStream.range(0, 1_000).mapToObj("j_%013d"::formatted).collect(joining(","));
    try (RawConnection client = open()) {
      client.send(head("GET /v1/judgements?ids=" + ids));
      assertThat(client.answer().status()).isEqualTo(404);
      client.push(head("GET /v1/judgements?ids=" + "x".repeat(100_000)));
      Answer answer = client.answer();
      assertThat(answer.status()).isEqualTo(414);
      assertThat(answer.body()).startsWith("{").doesNotContain("\n");
      assertThat(client.endsWithin(SOON)).isTrue();
    }
    try (RawConnection client = open()) {
      client.push(head("GET /v1/judgements?ids=" + "x".repeat(1_000_000)));
      assertThat(client.answer().status()).isEqualTo(414);
    }
  }

  @Test
  void bodyOf200MegabytesIsRefusedByContentLength() throws Exception {
    for (String type : List.of("application/json", "application/x-ndjson")) {
      try (RawConnection client = open()) {
        client.send(
            head("POST /v1/judgements", "Content-Type: " + type, "Content-Length: " + BODY));
        assertThat(client.answer().status()).isEqualTo(413);
        assertThat(client.endsWithin(SOON)).isTrue();
      }
    }
    needService();
  }

  /** In chunks nobody knows the length before. */
  @Test
  void chunkedBodyOf200MegabytesIsRefused() throws Exception {
    byte[] chunk = new byte[64 << 10];
    String size = Integer.toHexString(chunk.length) + "\r\n";
    try (RawConnection client = open()) {
      client.send(
          head(
              "POST /v1/judgements",
              "Content-Type: application/json",
              "Transfer-Encoding: chunked"));
      int sent = 0;
      try {
        for (; sent < BODY; sent += chunk.length) {
          client.send(size).send(chunk, chunk.length).send("\r\n");
        }
      } catch (IOException e) {
        // It is closed.
      }
      assertThat(sent).isLessThan(Bodies.MOST_JSON + (16 << 20)); // What is on the way counts.
      assertThat(client.answer().status()).isEqualTo(413);
    }
    needService();
  }

  @Test
  void aSlowBodyIsRefused() throws Exception {
    Bodies impatient = new Bodies(Duration.ofMillis(200), (_, body, buffer) -> body.read(buffer));
    WebServer slow =
        WebServer.builder()
            .address(InetAddress.getLoopbackAddress())
            .port(0)
            .shutdownHook(false)
            .routing(routing ->
                routing
                    .addFilter(KbxServer::closeAsAnnounced)
                    .post("/", (request, _) -> impatient.inMemory(request, 1_000, body -> body))
                    .error(Refusal.class, (_, response, e) -> Answers.problem(response, e)))
            .build()
            .start();
    try (RawConnection client = RawConnection.to("http://kbx:" + slow.port())) {
      client.send(head("POST /", "Content-Length: 1000")).send("x");
      Thread.sleep(300);
      client.send("x");
      assertThat(client.answer().status()).isEqualTo(408);
      assertThat(client.endsWithin(SOON)).isTrue();
    } finally {
      slow.stop();
    }
  }

  @Test
  void invalidTokensAreSlowedDown() throws Exception {
    Map<Integer, Integer> statuses = new ConcurrentHashMap<>();
    String wrong = head("GET /v1/queue").replace(token, "kbx_" + "0".repeat(32));
    all(
        60,
        _ -> {
          for (int i = 0; i < 3; i++) {
            try (RawConnection client = open()) {
              Answer answer = client.send(wrong).answer();
              statuses.merge(answer.status(), 1, Integer::sum);
              if (answer.status() == 429) {
                assertThat(answer.headers()).containsEntry("retry-after", "1");
                assertThat(client.endsWithin(SOON)).isTrue();
              }
            }
          }
        });
    assertThat(statuses).containsOnlyKeys(401, 429);
    assertThat(statuses.get(429)).isGreaterThan(statuses.get(401));
    needService();
  }

  /** A byte now and then, in the first line or in a header. */
  @Test
  @Tag("soak-only")
  void slowHeadersAreCutOff() throws Exception {
    all(
        500,
        number -> {
          try (RawConnection client = open()) {
            client.send(number % 2 == 0 ? "GET /v1/queue" : "GET /v1/queue HTTP/1.1\r\nX: ");
            boolean ended = false;
            for (int i = 0; i < 60 && !ended; i++) {
              ended = isRefused(client, "x") || client.endsWithin(Duration.ofSeconds(3));
            }
            assertThat(ended).isTrue();
          }
        });
    needService();
  }

  /** Nothing more comes: of a body that is wanted, of one that is not, and of a form. */
  @Test
  @Tag("soak-only")
  void stalledBodiesAreCutOff() throws Exception {
    List<String> lines = List.of("POST /v1/judgements", "POST /v1/nothing", "POST /login");
    all(
        90,
        number -> {
          String line = lines.get(number % lines.size());
          try (RawConnection client = open()) {
            client
                .send(head(line, "Content-Type: application/json", "Content-Length: 99"))
                .send("{");
            assertThat(client.endsWithin(Duration.ofSeconds(60))).as(line).isTrue();
          }
        });
    needService();
  }

  private static boolean isRefused(RawConnection client, String text) {
    try {
      client.send(text);
      return false;
    } catch (IOException e) {
      return true;
    }
  }

  /** A client that does not read what it asked for. */
  @Test
  @Tag("soak-only")
  void unreadStreamIsClosed() throws Exception {
    server.referee.answer = ScriptedReferee.judgement("correct", true, "x".repeat(200_000));
    String run = "";
    for (int i = 0; i < 100; i++) { // More than both sides of a connection keep.
      var judged = server.as(token).submit("?wait=60", "x = %d".formatted(i));
      run = ScriptedServer.json(judged).path("run").asString();
    }
    try (RawConnection client = RawConnection.narrow(server.url())) {
      client.send(head("GET /v1/runs/%s/events?follow=true".formatted(run)));
      assertThat(client.answer().status()).isEqualTo(200);
      Thread.sleep(Duration.ofSeconds(30)); // It has 20 for an event.
      assertThat(client.endsWithin(Duration.ofSeconds(10))).isTrue();
    }
    needService();
  }

  @Test
  @Tag("soak-only")
  void tenThousandEventStreamsAreLimited(@TempDir Path folder) throws Exception {
    try (ServerProcess process = crowded(folder)) {
      String url = process.url();
      String run = run(url);
      String asks =
          "GET /v1/runs/%s/events?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n".formatted(run);
      List<RawConnection> held = Collections.synchronizedList(new ArrayList<>());
      AtomicInteger refused = new AtomicInteger();
      all(
          100,
          _ -> {
            for (int i = 0; i < 100; i++) {
              RawConnection client = RawConnection.to(url).send(asks);
              Answer answer = client.answer();
              if (answer.status() == 200) {
                held.add(client);
              } else {
                assertThat(answer.status()).isEqualTo(503);
                assertThat(answer.headers()).containsKey("retry-after");
                assertThat(client.endsWithin(SOON)).isTrue();
                refused.incrementAndGet();
                client.close();
              }
            }
          });
      assertThat(held).hasSize(1_000);
      assertThat(refused).hasValue(9_000);
      assertThat(run(url)).isEqualTo(run); // It judges on.
      assertThat(process.peakBytes()).isLessThan(1_000_000_000);
      for (RawConnection each : held) each.close();
      await()
          .atMost(Patience.LIMIT)
          .until(() -> {
            try (RawConnection client = RawConnection.to(url)) {
              return client.send(asks).answer().status() == 200;
            }
          });
    }
  }

  /** What a connection may say that keeps its place: nothing, or no end of a request. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "G",
        "GET /v1/queue HTTP/1.1\r\nHost: localhost\r\n",
        "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
        "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
            + "Content-Type: application/x-www-form-urlencoded\r\n\r\n",
        "POST /v1/judgements HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            + "Content-Type: application/json\r\n\r\n1\r\n{\r\n"
      })
  @Tag("soak-only")
  void silentConnectionsDoNotBlockOthers(String said, @TempDir Path folder) throws Exception {
    try (ServerProcess process = crowded(folder)) {
      String url = process.url();
      List<RawConnection> held = new ArrayList<>();
      List<Long> millis = new ArrayList<>();
      for (int i = 0; i < 12_000; i++) { // Three times as many as are accepted.
        RawConnection silent = RawConnection.to(url);
        held.add(silent);
        if (!said.isEmpty()) silent.push(said);
        if (i % 250 == 249) millis.add(needAnswer(url));
        if (held.size() > 4_500) held.removeFirst().close();
      }
      long worst = millis.stream().mapToLong(Long::longValue).max().orElseThrow();
      System.out.printf("silent after '%s': another client waits at most %d ms%n", said, worst);
      assertThat(process.peakBytes()).isLessThan(1_000_000_000);
      for (RawConnection each : held) each.close();
    }
  }

  /** As {@link #silentConnectionsDoNotBlockOthers}, where few are accepted. */
  @ParameterizedTest
  @ValueSource(strings = {"", "POST / HTTP/1.1\r\nHost: kbx\r\nContent-Length: 9\r\n\r\n"})
  void silentConnectionsDoNotBlockOthersAtASmallLimit(String said) throws Exception {
    try (Connections connections = new Connections(100)) {
      Bodies bodies = new Bodies(Patience.LIMIT, connections::read);
      WebServer few =
          WebServer.builder()
              .address(InetAddress.getLoopbackAddress())
              .port(0)
              .shutdownHook(false)
              .maxTcpConnections(100)
              .connectionOptions(connections.options())
              .protocolsDiscoverServices(false)
              .addProtocol(KbxServer.http1(connections))
              .routing(routing ->
                  routing
                      .addFilter((chain, request, _) -> {
                        chain.proceed();
                        connections.answered(request);
                      })
                      .get("/v1/queue", (_, response) -> response.send("{}"))
                      .post(
                          "/",
                          (request, response) -> {
                            byte[] body = bodies.inMemory(request, 1_000, all -> all);
                            response.send(body);
                          }))
              .build()
              .start();
      String url = "http://kbx:" + few.port();
      List<RawConnection> held = new ArrayList<>();
      try {
        for (int i = 0; i < 150; i++) {
          Thread.sleep(10); // What was closed gives up its place soon, not at once.
          RawConnection silent = RawConnection.to(url);
          held.add(silent);
          if (!said.isEmpty()) silent.push(said);
          if (i % 10 == 9) assertThat(needAnswer(url)).isLessThan(SOON.toMillis());
        }
      } finally {
        for (RawConnection each : held) each.close();
        few.stop();
      }
    }
  }

  /** Asks on a new connection; milliseconds until the answer. */
  private static long needAnswer(String url) throws IOException {
    long start = System.nanoTime();
    try (RawConnection client = RawConnection.to(url)) {
      client.send("GET /v1/queue HTTP/1.1\r\nHost: localhost\r\n\r\n");
      client.patience(SOON);
      assertThat(client.answer().status()).isEqualTo(200);
    }
    return (System.nanoTime() - start) / 1_000_000;
  }

  /** Nobody else needs its place: it ends nevertheless. */
  @Test
  @Tag("soak-only")
  void silentConnectionsEnd() throws Exception {
    try (RawConnection silent = open();
        RawConnection slow = open();
        RawConnection idle = open()) {
      idle.send(head("GET /v1/queue"));
      assertThat(idle.answer().status()).isEqualTo(200);
      slow.send("GET /v1/queue");
      assertThat(silent.endsWithin(Duration.ofSeconds(40))).isTrue();
      assertThat(slow.endsWithin(SOON)).isTrue();
      assertThat(idle.endsWithin(Duration.ofSeconds(1))).isFalse();
      idle.send(head("GET /v1/queue"));
      assertThat(idle.answer().status()).isEqualTo(200);
    }
  }

  private static ServerProcess crowded(Path folder) throws IOException {
    return ServerProcess.start(folder.resolve("kbx.db").toString(), folder, false, 100);
  }

  /** Has a candidate judged, and tells in which run. */
  private static String run(String url) throws Exception {
    String body = "{\"task\":\"relu\",\"code\":\"x = 1\"}";
    try (RawConnection client = RawConnection.to(url)) {
      Answer answer =
          client
              .send(
                  ("POST /v1/judgements?wait=60 HTTP/1.1\r\nHost: localhost\r\n"
                          + "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s")
                      .formatted(body.length(), body))
              .answer();
      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
      return Json.mapper().readTree(answer.body()).path("run").asString();
    }
  }

  private interface Attack {
    void by(int client) throws Exception;
  }

  /** Many at a time; none may fail. */
  private static void all(int clients, Attack attack) throws Exception {
    List<Future<?>> attacks = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < clients; i++) {
        int client = i;
        attacks.add(
            threads.submit(() -> {
              attack.by(client);
              return null;
            }));
      }
    }
    for (Future<?> each : attacks) each.get();
  }
}
