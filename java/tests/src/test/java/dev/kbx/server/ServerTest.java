package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Bundled;
import dev.kbx.Patience;
import dev.kbx.TestPostgres;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.Json;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The server over real HTTP and a real store; its referee answers as it is told. */
@Timeout(Patience.SECONDS)
class ServerTest {
  private final HttpClient http = HttpClient.newHttpClient();
  private final ScriptedReferee referee = new ScriptedReferee();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private KbxServer server;

  @TempDir private Path folder;

  @BeforeEach
  void start() {
    start(StoreAddress.of(folder.resolve("kbx.db")), 100, false);
  }

  private void start(StoreAddress address, int limit, boolean requireTokens) {
    RunStore store = RunStore.open(address);
    RunStore reads = RunStore.open(address);
    Machine machine =
        new Machine(
            referee,
            ScriptedReferee.DEVICE,
            Map.of("kbx", "test"),
            "secret",
            Map.of("kernelbenchx", Bundled.suite("kernelbenchx")),
            Bundled.STATEMENT);
    server =
        KbxServer.start(
            new Listening("127.0.0.1", 0, requireTokens, Optional.empty()),
            store,
            reads,
            machine,
            limit,
            folder);
    opened.addAll(List.of(store, reads, server));
  }

  @AfterEach
  void stop() throws Exception {
    referee.permits.release(1_000);
    for (AutoCloseable each : opened.reversed()) each.close();
    opened.clear();
  }

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create(server.url() + path));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> get(String path) throws Exception {
    return send(to(path));
  }

  private HttpResponse<String> post(String path, String type, String body) throws Exception {
    return send(
        to(path).header("Content-Type", type).POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private HttpResponse<String> submit(String query, String... codes) throws Exception {
    List<Map<String, String>> candidates = new ArrayList<>();
    for (String code : codes) candidates.add(Map.of("task", "Activation/relu", "code", code));
    return post(
        "/v1/judgements" + query,
        "application/json",
        Json.mapper().writeValueAsString(Map.of("candidates", candidates)));
  }

  private static JsonNode json(HttpResponse<String> response) {
    return Json.mapper().readTree(response.body());
  }

  private static String code(int number) {
    return "def relu(x):\n    return x + %d\n".formatted(number);
  }

  @Test
  void waitForAnyReturnsOnTheFirstVerdict() throws Exception {
    referee.permits.drainPermits();
    List<String> ids = new ArrayList<>();
    for (JsonNode each : json(submit("", code(1), code(2))).path("judgements")) {
      ids.add(each.path("id").asString());
    }
    referee.permits.release();
    String path = "/v1/judgements?until=any&wait=60&ids=" + String.join(",", ids);
    List<String> states = new ArrayList<>();
    for (JsonNode each : json(get(path)).path("judgements")) {
      states.add(each.path("state").asString());
    }
    assertThat(states).containsOnlyOnce("done");
    referee.permits.release();
    await().untilAsserted(() -> assertThat(get(path).body()).doesNotContain("\"judging\""));
  }

  @Test
  void aCandidateIsJudgedOnceAndItsVerdictIsKept() throws Exception {
    HttpResponse<String> first = submit("?wait=20", code(1), code(2));
    assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
    JsonNode judgement = json(first).path("judgements").path(0);
    assertThat(judgement.path("state").asString()).isEqualTo("done");
    assertThat(judgement.path("verdict").path("status").asString()).isEqualTo("correct");
    HttpResponse<String> again = submit("", code(1));
    assertThat(again.statusCode()).isEqualTo(200);
    assertThat(json(again).path("judgements").path(0).path("cached").asBoolean()).isTrue();
    assertThat(referee.judged).hasSize(2);
    String run = json(first).path("run").asString();
    assertThat(json(get("/v1/runs/" + run)).path("correct").path("count").asInt()).isEqualTo(2);
    assertThat(json(get("/v1/runs/%s/verdicts?status=correct".formatted(run))).path("verdicts"))
        .hasSize(2);
    assertThat(get("/v1/runs/%s/events".formatted(run)).body())
        .contains("event:verdict", "event:end");
    String hash = judgement.path("candidate").asString();
    assertThat(json(get("/v1/candidates/" + hash)).path("code").asString()).isEqualTo(code(1));
    assertThat(json(get("/v1/judgements/" + judgement.path("id").asString())).path("state"))
        .isEqualTo(judgement.path("state"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void queuedCandidatesAreJudgedOnceAfterARestart(boolean team) throws Exception {
    stop();
    StoreAddress address =
        team
            ? StoreAddress.of(TestPostgres.newDatabase())
            : StoreAddress.of(folder.resolve("again.db"));
    referee.permits.drainPermits();
    start(address, 100, false);
    referee.permits.release(3);
    String[] codes = new String[20];
    for (int i = 0; i < codes.length; i++) codes[i] = code(i);
    HttpResponse<String> accepted = submit("", codes);
    assertThat(accepted.statusCode()).as(accepted.body()).isEqualTo(202);
    // Whichever they are: several are judged at the same time.
    await()
        .atMost(Patience.LIMIT)
        .until(() -> json(get("/v1/judgements?state=done")).path("judgements").size() == 3);
    for (AutoCloseable each : opened.reversed()) each.close();
    opened.clear();
    referee.permits.release(1_000);
    start(address, 100, false);
    List<String> ids = new ArrayList<>();
    json(accepted).path("judgements").forEach(each -> ids.add(each.path("id").asString()));
    JsonNode all =
        json(get("/v1/judgements?wait=30&ids=" + String.join(",", ids))).path("judgements");
    assertThat(all).hasSize(20).allMatch(each -> each.has("verdict"));
    assertThat(referee.judged).doesNotHaveDuplicates().hasSize(20);
  }

  @Test
  void fullQueueIsReportedAndQueuedCandidatesCanBeCancelled() throws Exception {
    referee.permits.drainPermits();
    String[] codes = new String[40];
    for (int i = 0; i < codes.length; i++) codes[i] = code(i);
    JsonNode accepted = json(submit("", codes));
    HttpResponse<String> refused = submit("", codes);
    assertThat(refused.statusCode()).as(refused.body()).isEqualTo(429);
    assertThat(refused.headers().firstValue("Retry-After")).isPresent();
    String last = accepted.path("judgements").path(39).path("id").asString();
    HttpResponse<String> cancelled = send(to("/v1/judgements/" + last).DELETE());
    assertThat(json(cancelled).path("state").asString()).isEqualTo("cancelled");
    assertThat(send(to("/v1/judgements/" + last).DELETE()).statusCode()).isEqualTo(409);
    assertThat(json(get("/v1/judgements?state=cancelled")).path("judgements")).hasSize(1);
  }

  /** A form is answered as the same request to the API is. */
  @Test
  void formReportsAFullQueueAndADrain() throws Exception {
    referee.permits.drainPermits();
    String[] codes = new String[50];
    for (int i = 0; i < codes.length; i++) codes[i] = code(i);
    assertThat(submit("", codes).statusCode()).isEqualTo(202);
    HttpResponse<String> full = form("x = <1>");
    assertThat(full.statusCode()).as(full.body()).isEqualTo(429);
    assertThat(full.headers().firstValue("Retry-After")).isPresent();
    assertThat(full.body()).contains("x = &lt;1&gt;</textarea>");
    referee.permits.release(1_000);
    server.drain(Patience.LIMIT);
    HttpResponse<String> drained = form("x = 2");
    assertThat(drained.statusCode()).as(drained.body()).isEqualTo(503);
    assertThat(drained.headers().firstValue("Retry-After")).contains("5");
  }

  private HttpResponse<String> form(String code) throws Exception {
    return post(
        "/submit",
        "application/x-www-form-urlencoded",
        "task=Activation/relu&code=" + URLEncoder.encode(code, StandardCharsets.UTF_8));
  }

  @Test
  void oneClientGetsAtMostHalfOfTheQueue() throws Exception {
    List<String> clients = twoClients(20);
    assertThat(submitted(clients.getFirst(), 10, 0)).isEqualTo(202);
    assertThat(submitted(clients.getFirst(), 1, 100)).isEqualTo(429);
    assertThat(submitted(clients.getLast(), 10, 200)).isEqualTo(202);
    assertThat(submitted(clients.getLast(), 1, 300)).isEqualTo(429);
  }

  /** Who floods the server delays others by no more than what was begun, and takes turns then. */
  @Test
  void clientsTakeTurns() throws Exception {
    List<String> clients = twoClients(100);
    assertThat(submitted(clients.getFirst(), 40, 0)).isEqualTo(202);
    assertThat(submitted(clients.getLast(), 3, 100)).isEqualTo(202);
    referee.permits.release(43);
    Instant end = Instant.now().plusSeconds(Patience.SECONDS);
    while (referee.judged.size() < 43 && Instant.now().isBefore(end)) Thread.sleep(10);
    assertThat(referee.judged).hasSize(43);
    // Sixteen had begun; of those that are judged at the same time any may be noted first.
    assertThat(referee.judged.subList(0, 32)).contains(code(100), code(101), code(102));
  }

  /** Their tokens; the queue takes so many candidates, and none is judged yet. */
  private List<String> twoClients(int queue) throws Exception {
    stop();
    StoreAddress address = StoreAddress.of(folder.resolve("two.db"));
    List<String> clients = new ArrayList<>();
    try (RunStore store = RunStore.open(address)) {
      Tokens tokens = new Tokens(store.service());
      for (String name : List.of("one", "other")) {
        clients.add(tokens.create(name, List.of("submit", "read")).orElseThrow());
      }
    }
    referee.permits.drainPermits();
    start(address, queue, true);
    return clients;
  }

  private int submitted(String token, int count, int first) throws Exception {
    List<Map<String, String>> candidates = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      candidates.add(Map.of("task", "Activation/relu", "code", code(first + i)));
    }
    String body = Json.mapper().writeValueAsString(Map.of("candidates", candidates));
    return send(to("/v1/judgements")
            .header("Authorization", "Bearer " + token)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body)))
        .statusCode();
  }

  @Test
  void anInfrastructureVerdictIsReplacedWhenTheCandidateComesAgain() throws Exception {
    referee.answer = ScriptedReferee.judgement("infrastructure", false);
    JsonNode first = json(submit("?wait=20", code(1))).path("judgements").path(0);
    assertThat(first.path("verdict").path("status").asString()).isEqualTo("infrastructure");
    referee.answer = ScriptedReferee.judgement("correct", true);
    HttpResponse<String> again = submit("?wait=20", code(1));
    JsonNode second = json(again).path("judgements").path(0);
    assertThat(second.path("verdict").path("status").asString()).isEqualTo("correct");
    assertThat(second.path("cached").asBoolean()).isFalse();
    assertThat(second.path("position")).isEqualTo(first.path("position"));
    assertThat(json(submit("", code(1))).path("judgements").path(0).path("cached").asBoolean())
        .isTrue();
    String run = json(again).path("run").asString();
    assertThat(json(get("/v1/runs/" + run)).path("verdicts").asInt()).isEqualTo(1);
    assertThat(referee.judged).hasSize(2);
  }

  @Test
  void keyIdentifiesOneCandidate() throws Exception {
    String body = "{\"task\":\"relu\",\"code\":\"x = %d\",\"key\":\"k\"}";
    JsonNode first = json(post("/v1/judgements?wait=20", "application/json", body.formatted(1)));
    JsonNode second = json(post("/v1/judgements", "application/json", body.formatted(1)));
    assertThat(second.path("judgements").path(0).path("id"))
        .isEqualTo(first.path("judgements").path(0).path("id"));
    assertThat(post("/v1/judgements", "application/json", body.formatted(2)).statusCode())
        .isEqualTo(409);
  }

  @Test
  void invalidRequestsAreExplained() throws Exception {
    HttpResponse<String> unknown =
        post(
            "/v1/judgements",
            "application/json",
            "{\"candidates\":[{\"task\":\"relu\",\"code\":\"\"},{\"task\":\"none\",\"code\":\"\"}]}");
    assertThat(unknown.statusCode()).isEqualTo(422);
    assertThat(json(unknown).path("pointer").asString()).isEqualTo("/candidates/1/task");
    assertThat(json(get("/v1/judgements")).path("judgements")).isEmpty();
    assertThat(post("/v1/judgements", "application/json", "{").statusCode()).isEqualTo(400);
    assertThat(post("/v1/judgements", "text/plain", "x").statusCode()).isEqualTo(415);
    assertThat(get("/v1/runs/none").statusCode()).isEqualTo(404);
    assertThat(get("/v1/runs?limit=0").statusCode()).isEqualTo(400);
    assertThat(get("/v1/judgements?ids=j_0").statusCode()).isEqualTo(404);
    assertThat(get("/nothing").headers().firstValue("Content-Type"))
        .contains("application/problem+json");
  }

  /** PostgreSQL keeps no U+0000, and asking it for one fails. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void invalidCharacterInANameIsRefused(boolean team) throws Exception {
    if (team) {
      stop();
      start(StoreAddress.of(TestPostgres.newDatabase()), 100, false);
    }
    String run = json(submit("?wait=20", code(1))).path("run").asString();
    for (String path :
        List.of(
            "/v1/judgements?cursor=%00",
            "/v1/judgements?run=a%00b",
            "/v1/judgements?ids=j_1,%00",
            "/v1/judgements/%00",
            "/v1/runs/%00",
            "/v1/runs/%00/report",
            "/v1/runs/" + run + "/verdicts?status=%00",
            "/v1/runs/" + run + "/verdicts?task=%00",
            "/v1/candidates/%00",
            "/v1/leaderboard?suite=%00&device=%00",
            "/v1/tasks?category=%00",
            "/runs/%00",
            "/runs/" + run + "?task=%00",
            "/candidates/%00",
            "/compare?a=%00&b=%00",
            "/tasks/kernelbenchx/Activation/%00",
            "/nothing?%00=1")) {
      HttpResponse<String> refused = get(path);
      assertThat(refused.statusCode()).as(path + refused.body()).isEqualTo(400);
      assertThat(refused.body()).as(path).contains("U+0000");
    }
    assertThat(get("/health/ready").statusCode()).isEqualTo(200);
    assertThat(get("/v1/runs/%2500").statusCode()).isEqualTo(404);
    for (String name : List.of("key", "method", "model", "run")) {
      HttpResponse<String> sent =
          post(
              "/v1/judgements?wait=20",
              "application/json",
              "{\"task\":\"relu\",\"code\":\"x = 1\",\"%s\":\"a\\u0000b\"}".formatted(name));
      assertThat(sent.statusCode()).as(name + sent.body()).isIn(200, 422);
    }
  }

  @Test
  void folderUploadRefusesPathTraversal() throws Exception {
    HttpResponse<String> good = upload("Activation/relu.py", code(7));
    assertThat(good.statusCode()).as(good.body()).isEqualTo(200);
    HttpResponse<String> out = upload("../../relu.py", code(8));
    assertThat(out.statusCode()).isEqualTo(422);
    assertThat(out.body()).contains("leads out of the folder");
    assertThat(Files.exists(folder.resolve("relu.py"))).isFalse();
    String row = "{\"file\":\"Activation/relu.py\",\"predict\":\"x = 1\"}\n";
    HttpResponse<String> line = post("/v1/judgements?wait=20", "application/x-ndjson", row);
    assertThat(line.statusCode()).as(line.body()).isEqualTo(200);
    assertThat(post("/v1/judgements", "application/x-ndjson", row + "no\n").statusCode())
        .isEqualTo(422);
    HttpResponse<String> skipped =
        post("/v1/judgements?wait=20&skip=true", "application/x-ndjson", row + "no\n");
    assertThat(json(skipped).path("problems")).hasSize(1);
  }

  /** However they are sent. */
  @Test
  void moreThanTenThousandCandidatesAreRefused() throws Exception {
    StringBuilder rows = new StringBuilder();
    StringBuilder list = new StringBuilder("{\"task\":\"relu\",\"code\":\"\"}");
    for (int i = 0; i <= 10_000; i++) {
      rows.append("{\"file\":\"Activation/relu.py\",\"predict\":\"x = %d\"}\n".formatted(i));
      if (i > 0) list.append(",{\"task\":\"relu\",\"code\":\"\"}");
    }
    String body = "{\"candidates\":[%s]}".formatted(list);
    HttpResponse<String> json = post("/v1/judgements", "application/json", body);
    HttpResponse<String> file = post("/v1/judgements", "application/x-ndjson", rows.toString());
    for (HttpResponse<String> refused : List.of(json, file)) {
      assertThat(refused.statusCode()).as(refused.body()).isEqualTo(422);
      assertThat(refused.body()).contains("10000");
    }
  }

  private HttpResponse<String> upload(String name, String code) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      zip.putNextEntry(new ZipEntry(name));
      zip.write(code.getBytes(StandardCharsets.UTF_8));
    }
    return send(
        to("/v1/uploads?wait=20")
            .header("Content-Type", "application/zip")
            .POST(HttpRequest.BodyPublishers.ofByteArray(bytes.toByteArray())));
  }

  @Test
  void pagesOfOtherSitesAreRefused() throws Exception {
    assertThat(send(to("/v1/queue").header("Origin", "http://evil.example")).statusCode())
        .isEqualTo(403);
    assertThat(send(to("/v1/queue").header("Origin", server.url())).statusCode()).isEqualTo(200);
  }

  @Test
  void requestsNeedAToken() throws Exception {
    stop();
    StoreAddress address = StoreAddress.of(folder.resolve("tokens.db"));
    String reader;
    String submitter;
    try (RunStore store = RunStore.open(address)) {
      Tokens tokens = new Tokens(store.service());
      reader = tokens.create("reader", List.of("read")).orElseThrow();
      submitter = tokens.create("loop", List.of("submit")).orElseThrow();
      assertThat(store.service().tokens()).noneMatch(each -> each.hash().contains(reader));
    }
    start(address, 100, true);
    assertThat(get("/v1/queue").statusCode()).isEqualTo(401);
    assertThat(get("/health/live").statusCode()).isEqualTo(200);
    assertThat(with("kbx_0", "/v1/queue")).isEqualTo(401);
    assertThat(with(reader, "/v1/queue")).isEqualTo(200);
    assertThat(with(submitter, "/v1/queue")).isEqualTo(403);
    assertThat(signedIn(reader, server.url())).isEqualTo(200);
    assertThat(signedIn(reader, "http://evil.example")).isEqualTo(403);
    assertThat(signedIn("kbx_0", server.url())).isEqualTo(401);
  }

  /** The answer to a browser that has the token in its cookie, on a page of that origin. */
  private int signedIn(String token, String origin) throws Exception {
    return send(to("/v1/queue")
            .header("Cookie", Access.COOKIE + "=" + token)
            .header("Origin", origin))
        .statusCode();
  }

  private int with(String token, String path) throws Exception {
    return send(to(path).header("Authorization", "Bearer " + token)).statusCode();
  }

  @Test
  void metricsContractAndListsAreServed() throws Exception {
    var _ = submit("?wait=20", code(1));
    assertThat(get("/metrics").body())
        .contains("kbx_verdicts_total{status=\"correct\"} 1.0", "kbx_queue_depth 0.0")
        .containsPattern(
            "kbx_device_seconds_total\\{device=\"[^\"]+\",stage=\"call\",uuid=\"\"} 0.1");
    assertThat(get("/openapi.yaml").body()).startsWith("openapi: 3.1.0");
    assertThat(json(get("/v1/tasks?category=Activation")).path("tasks")).isNotEmpty();
    assertThat(json(get("/v1/tasks/kernelbenchx/Activation/relu/prompt")).path("prompt").asString())
        .contains("relu");
    assertThat(json(get("/v1/leaderboard")).at("/entries/0/correct/passes").asInt()).isEqualTo(1);
    assertThat(json(get("/v1/devices")).path("capacity").asInt()).isEqualTo(2);
  }
}
