package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The contract and the server have the same operations, and answers are of the contract. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(Patience.SECONDS)
class ContractTest {
  private ScriptedServer server;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    server = new ScriptedServer(folder, false);
  }

  @AfterAll
  void stop() {
    server.close();
  }

  @Test
  void contractHasAllRoutes() {
    Set<String> pages = Set.of("/", "/runs", "/tasks");
    Set<String> served =
        server.routes().all().stream()
            .filter(route -> route.pattern().matches("/(v1|health|metrics|openapi|docs).*"))
            .map(route -> route.method().text() + " " + route.pattern())
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(served).isEqualTo(server.contract.operations());
    assertThat(server.routes().all().stream().map(Routes.Route::pattern)).containsAll(pages);
  }

  @Test
  void operationsAnswerByTheContract() throws Exception {
    String code = "def relu(x):\n    return x\n";
    JsonNode accepted = ScriptedServer.json(server.submit("?wait=20", code));
    JsonNode judgement = accepted.path("judgements").path(0);
    String id = judgement.path("id").asString();
    String run = accepted.path("run").asString();
    String task = "/v1/tasks/kernelbenchx/Activation/relu";
    for (String path :
        new String[] {
          "/v1/judgements",
          "/v1/judgements?wait=1&ids=" + id,
          "/v1/judgements/" + id,
          "/v1/runs",
          "/v1/runs/" + run,
          "/v1/runs/" + run + "/verdicts",
          "/v1/runs/" + run + "/events",
          "/v1/runs/" + run + "/report",
          "/v1/suites",
          "/v1/tasks",
          task,
          task + "/prompt",
          "/v1/candidates/" + judgement.path("candidate").asString(),
          "/v1/leaderboard",
          "/v1/devices",
          "/v1/queue",
          "/v1/version",
          "/health/live",
          "/health/ready",
          "/metrics",
          "/openapi.yaml",
          "/docs"
        }) {
      HttpResponse<String> response = server.get(path);
      assertThat(response.statusCode()).as("%s %s", path, response.body()).isEqualTo(200);
    }
    assertThat(session()).containsExactly(201, 200, 200, 200, 200);
    assertThat(upload().statusCode()).isEqualTo(200);
    assertThat(label(run, "{\"name\":\"n\"}").statusCode()).isEqualTo(200);
    assertThat(server.send(server.to("/v1/judgements/" + id).DELETE()).statusCode()).isEqualTo(409);
    assertThat(server.asked).isEqualTo(server.contract.operations());
  }

  /** Statuses of all that is asked of a session. */
  private List<Integer> session() throws Exception {
    String json = "application/json";
    HttpResponse<String> begun = server.post("/v1/sessions", json, "{\"task\":\"relu\"}");
    String path = "/v1/sessions/" + ScriptedServer.json(begun).path("id").asString();
    return List.of(
        begun.statusCode(),
        server.post(path + "/turns?wait=20", json, "{\"code\":\"x = 1\"}").statusCode(),
        server.post(path + "/final?wait=20", json, "{}").statusCode(),
        server.get(path).statusCode(),
        server.send(server.to(path).DELETE()).statusCode());
  }

  @Test
  void thePageLeadsToEachOfItsOperations() throws Exception {
    String page = server.get("/docs").body();
    List<String> operations =
        Pattern.compile("<article class=\"operation\" id=\"([^\"]+)\"")
            .matcher(page)
            .results()
            .map(found -> found.group(1))
            .filter(id -> !id.startsWith("schema-"))
            .toList();
    assertThat(operations).hasSizeGreaterThan(10);
    assertThat(operations).allSatisfy(id -> assertThat(page).contains("<a href=\"#" + id + "\">"));
    assertThat(page).contains("<a href=\"/\">kbx</a>", "id=\"schemas\"");
  }

  private HttpResponse<String> label(String run, String body) throws Exception {
    return server.send(
        server
            .to("/v1/runs/" + run)
            .header("Content-Type", "application/json")
            .method("PATCH", BodyPublishers.ofString(body)));
  }

  @Test
  void aRunIsNamedAndItsNameIsTakenAway() throws Exception {
    String run =
        ScriptedServer.json(server.submit("?wait=20&run=mine", "named = 1")).path("run").asString();
    assertThat(ScriptedServer.json(server.get("/v1/runs/" + run)).path("name").asString())
        .as("at first what its client calls it")
        .isEqualTo("mine");
    JsonNode named =
        ScriptedServer.json(label(run, "{\"name\":\" a <b> \",\"note\":\"one\\ntwo\"}"));
    assertThat(named.path("name").asString()).isEqualTo("a <b>");
    assertThat(named.path("note").asString()).isEqualTo("one\ntwo");
    JsonNode kept = ScriptedServer.json(label(run, "{\"name\":null}"));
    assertThat(kept.has("name")).isFalse();
    assertThat(kept.path("note").asString()).isEqualTo("one\ntwo");
    assertThat(ScriptedServer.json(server.get("/v1/runs/" + run)).path("note").asString())
        .isEqualTo("one\ntwo");
    for (String body :
        List.of(
            "{\"name\":7}",
            "{\"name\":\"a\\nb\"}",
            "{\"note\":\"\\u0000\"}",
            "{\"note\":\"\\ud800\"}",
            "{\"id\":\"x\"}",
            "{\"note\":\"%s\"}".formatted("x".repeat(2_001)))) {
      assertThat(label(run, body).statusCode()).as(body).isEqualTo(422);
    }
    assertThat(label(run, "[]").statusCode()).isEqualTo(400);
    assertThat(label("none", "{}").statusCode()).isEqualTo(404);
    assertThat(ScriptedServer.json(label(run, "{\"note\":\"\"}")).has("note")).isFalse();
  }

  private HttpResponse<String> upload() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      zip.putNextEntry(new ZipEntry("Activation/relu.py"));
      zip.write("def relu(x):\n    return x + 1\n".getBytes(StandardCharsets.UTF_8));
    }
    return server.send(
        server
            .to("/v1/uploads?wait=20")
            .header("Content-Type", "application/zip")
            .POST(BodyPublishers.ofByteArray(bytes.toByteArray())));
  }

  /** Whatever is asked: a token is read from the store, which may not answer. */
  @Test
  void eachOperationHasItsErrors() {
    for (String operation : server.contract.operations()) {
      Set<String> statuses = server.contract.statuses(operation);
      assertThat(statuses).as(operation).contains("400", "414");
      if (server.contract.needsToken(operation)) {
        assertThat(statuses).as(operation).contains("401", "403", "429", "503");
      }
    }
  }

  @Test
  void unlistedContentTypesAreRefused() throws Exception {
    for (String path : new String[] {"/v1/judgements", "/v1/uploads"}) {
      Set<String> known = server.contract.bodies("POST " + path);
      for (String type :
          "application/json application/x-ndjson application/jsonl application/zip application/x-tar application/gzip application/x-gzip text/plain"
              .split(" ", -1)) {
        int status = server.post(path, type, "{}").statusCode();
        assertThat(status != 415).as(path + " " + type).isEqualTo(known.contains(type));
      }
    }
  }

  /** The server takes what the contract describes, and nothing else. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "true  |"
            + " \"method\":\"m\",\"model\":\"n\",\"sample\":0,\"round\":0,\"key\":\"a\",\"conditions\":{\"a\":\"b\"}",
        "true  |"
            + " \"method\":null,\"model\":null,\"sample\":null,\"round\":null,\"key\":null,\"conditions\":null",
        "true  |"
            + " \"suite\":null,\"run\":null,\"plan\":null,\"priority\":null,\"deadline_seconds\":null",
        "true  |"
            + " \"plan\":{\"grade\":null,\"stages\":null,\"timeout\":null,\"arch\":null,\"policy\":null}",
        "true  |"
            + " \"plan\":{\"arch\":\"sm_80\",\"precision\":\"bf16\",\"published_accounting\":null}",
        "false | \"method\":\"\"",
        "false | \"model\":7",
        "false | \"sample\":-1",
        "false | \"round\":3000000000",
        "false | \"key\":\"\"",
        "false | \"conditions\":{\"a\":1}",
        "false | \"run\":\"no name\"",
        "false | \"priority\":11",
        "false | \"deadline_seconds\":0",
        "false | \"plan\":{\"stages\":[]}",
        "false | \"plan\":{\"arch\":\"sm_1\"}",
        "false | \"plan\":{\"nonsense\":1}",
        "false | \"plan\":[]",
        "true  | \"plan\":{\"properties\":[\"repeatable\",\"batch_invariant\"]}",
        "true  | \"plan\":{\"properties\":[\"all\"]}",
        "true  | \"plan\":{\"properties\":[]}",
        "true  | \"plan\":{\"properties\":null}",
        "false | \"plan\":{\"properties\":[\"all\",\"repeatable\"]}",
        "false | \"plan\":{\"properties\":[\"fast\"]}",
        "false | \"plan\":{\"properties\":\"all\"}",
      })
  void requestsOutsideTheContractAreRefused(boolean accepted, String members) throws Exception {
    String body = "{\"task\":\"relu\",\"code\":\"x\",%s}".formatted(members);
    HttpResponse<String> response = server.post("/v1/judgements?wait=20", "application/json", body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(accepted ? 200 : 422);
    assertThat(server.contract.accepts(body)).as(body).isEqualTo(accepted);
  }

  /** As the answer says it: the store knows only what has no verdict. */
  @Test
  void judgementsAreListedByTheirState() throws Exception {
    server.referee.permits.drainPermits();
    for (int i = 0; i < 30; i++) server.submit("", "waits = %d".formatted(i));
    Set<String> seen = new TreeSet<>();
    for (String state : new String[] {"judging", "queued"}) {
      JsonNode all = ScriptedServer.json(server.get("/v1/judgements?state=" + state));
      for (JsonNode each : all.path("judgements")) {
        assertThat(each.path("state").asString()).isEqualTo(state);
        seen.add(state);
      }
    }
    server.referee.permits.release(1_000_000);
    assertThat(seen).containsExactly("judging", "queued");
  }

  @ParameterizedTest
  @CsvSource({
    "PUT, /v1/judgements, 'POST, GET, HEAD'",
    "POST, /v1/judgements/j_0, 'GET, HEAD, DELETE'",
    "DELETE, /v1/runs, 'GET, HEAD'",
    "POST, /v1/runs/none/events, 'GET, HEAD'",
    "PATCH, /submit, 'GET, HEAD, POST'",
    "POST, /health/live, 'GET, HEAD'",
    "POST, /openapi.yaml, 'GET, HEAD'",
    "POST, /, 'GET, HEAD'"
  })
  void wrongHttpMethodNamesTheAllowedOnes(String method, String path, String allowed)
      throws Exception {
    HttpResponse<String> response =
        server.send(server.to(path).method(method, BodyPublishers.noBody()));
    assertThat(response.statusCode()).as(response.body()).isEqualTo(405);
    assertThat(response.headers().firstValue("Allow")).contains(allowed);
    assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
  }
}
