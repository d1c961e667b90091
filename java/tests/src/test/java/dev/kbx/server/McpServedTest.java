package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.json.jackson3.JacksonMcpJsonMapper;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceRequest;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.TextResourceContents;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code /mcp} by the SDK's own client, with a referee that says what it is told. */
@Timeout(60)
class McpServedTest {
  private static final String CODE = "def relu(x):\n    return x\n";

  @TempDir private Path folder;

  private ScriptedServer server;

  @BeforeEach
  void start() throws Exception {
    server = new ScriptedServer(folder, true);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private McpSyncClient client(String... scopes) {
    return holding(server.token("agent", scopes));
  }

  private McpSyncClient holding(String token) {
    var mapper = new JacksonMcpJsonMapper(JsonMapper.builder().build());
    McpSyncClient client =
        McpClient.sync(
                HttpClientStreamableHttpTransport.builder(server.url())
                    .endpoint("/mcp")
                    .jsonMapper(mapper)
                    .addHttpRequestCustomizer(
                        (request, _, _, _, _) -> request.header("Authorization", "Bearer " + token))
                    .build())
            .requestTimeout(Duration.ofSeconds(30))
            .jsonSchemaValidator((_, _) -> {
              throw new AssertionError("no output schema is given");
            })
            .build();
    var _ = client.initialize();
    return client;
  }

  private static CallToolResult call(McpSyncClient client, String tool, Map<String, Object> given) {
    return client.callTool(CallToolRequest.builder(tool).arguments(given).build());
  }

  private static String text(CallToolResult result) {
    assertThat(result.content()).hasSize(1);
    return ((TextContent) result.content().getFirst()).text();
  }

  private static JsonNode object(CallToolResult result) {
    assertThat(result.isError()).as(text(result)).isFalse();
    return Json.mapper().valueToTree(result.structuredContent());
  }

  private static String error(CallToolResult result) {
    assertThat(result.isError()).as(text(result)).isTrue();
    assertThat(text(result).lines()).hasSize(1);
    return text(result);
  }

  private static Map<String, Object> kernel(String task) {
    return Map.of("task", task, "source", CODE);
  }

  @Test
  void toolsJudgeAndTellWhatIsKnown() {
    server.referee.answer =
        ScriptedReferee.judgement("wrong_values", false, "3 wrong elements of 37");
    try (McpSyncClient client = client("submit", "read")) {
      assertThat(client.listTools().tools())
          .extracting(McpSchema.Tool::name)
          .containsExactly(
              "tasks", "prompt", "judge", "check", "explain", "profile", "reproduce", "best_known");
      CallToolResult wrong = call(client, "judge", kernel("relu"));
      assertThat(text(wrong)).contains("`wrong_values`", "3 wrong elements of 37");
      String id = object(wrong).get("id").asString();
      assertThat(id).matches("\\S+/0");
      assertThat(object(wrong).has("judgements_left")).isFalse();
      CallToolResult explained = call(client, "explain", Map.of("id", id));
      assertThat(text(explained))
          .startsWith("# Activation/relu: wrong_values")
          .doesNotContain(CODE);
      assertThat(object(explained).get("explanation").asString()).isEqualTo(text(explained));
      assertThat(text(call(client, "profile", Map.of("id", id))))
          .isEqualTo(
              "Time was not measured: the kernel is wrong_values, and only correct ones are"
                  + " timed.");
      CallToolResult best = call(client, "best_known", Map.of("task", "relu"));
      assertThat(text(best)).startsWith("No correct kernel is known.");
      assertThat(object(best).get("verdicts").asInt()).isOne();
      CallToolResult found = call(client, "tasks", Map.of("filter", "relu*", "limit", 2));
      assertThat(object(found).get("tasks").size()).isEqualTo(2);
      assertThat(text(found)).contains("2 of 3 tasks");
      assertThat(text(call(client, "prompt", Map.of("task", "relu"))))
          .startsWith("# relu")
          .contains("def relu(");
      CallToolResult checked = call(client, "check", kernel("relu"));
      assertThat(object(checked).at("/findings/0/rule").asString()).isEqualTo("no-kernel");
    }
  }

  @Test
  void theBestVerdictIsShownWithoutItsSource() {
    try (McpSyncClient client = client("submit", "read")) {
      String id = object(call(client, "judge", kernel("relu"))).get("id").asString();
      CallToolResult best = call(client, "best_known", Map.of("task", "Activation/relu"));
      assertThat(text(best)).contains("correct, not timed on scripted, verdict id " + id);
      assertThat(object(best).at("/best/0/id").asString()).isEqualTo(id);
      assertThat(object(best).toString()).doesNotContain("return x");
    }
  }

  @Test
  void timesAreShownWithWhatBoundsThem() {
    server.referee.answer =
        Json.mapper()
            .readValue(
                """
                {"status": "correct", "stage": "perf", "call_ok": true, "exe_ok": true,
                 "grade": "published", "flags": [], "versions": {}, "seconds": {"call": 0.1},
                 "device": {"kind": "cuda", "name": "NVIDIA H200", "arch": "sm_90"},
                 "speedup": {"value": 1.5, "low": 1.4, "high": 1.6, "baseline": "eager"},
                 "sizes": [{"shape": "n=4096", "candidate_ms": 0.02, "reference_ms": 0.03,
                   "speedup": 1.5, "low": 1.4, "high": 1.6, "bound": "memory", "iou": 0.75,
                   "rounds": 20}],
                 "baselines": [{"name": "eager", "speedup": 1.5, "low": 1.4, "high": 1.6},
                   {"name": "expert", "speedup": 0.8, "low": 0.75, "high": 0.85}],
                 "compile": {"arch": "sm_90", "registers": 24, "shared_bytes": 0, "spills": 0}}
                """,
                Judgement.class);
    try (McpSyncClient client = client("submit", "read")) {
      String id = object(call(client, "judge", kernel("relu"))).get("id").asString();
      CallToolResult profile = call(client, "profile", Map.of("id", id));
      assertThat(text(profile))
          .startsWith("Speedup: 1.50× [1.40–1.60] against eager.")
          .contains("Of the expert's speed: 80", "n=4096", "memory", "75.0 %")
          .endsWith(
              "Compiled for sm_90: 24 registers a thread, 0 bytes of shared memory, 0 bytes"
                  + " spilled.");
      assertThat(object(profile).at("/sizes/0/bound").asString()).isEqualTo("memory");
      assertThat(object(profile).at("/expert/speedup").asDouble()).isEqualTo(0.8);
      assertThat(text(call(client, "best_known", Map.of("task", "relu"))))
          .startsWith("1.50× [1.40–1.60] against eager on NVIDIA H200, verdict id " + id);
    }
  }

  @Test
  void aJudgementOfTheApiIsExplainedByItsId() throws Exception {
    server.as(server.token("poster", "submit", "read"));
    JsonNode judged = ScriptedServer.json(server.submit("?wait=20", CODE)).at("/judgements/0");
    try (McpSyncClient client = client("read")) {
      CallToolResult explained = call(client, "explain", Map.of("id", judged.get("id").asString()));
      assertThat(object(explained).get("id").asString())
          .isEqualTo(judged.get("run").asString() + "/0");
      assertThat(error(call(client, "explain", Map.of("id", "j_1"))))
          .isEqualTo("id: no judgement 'j_1'");
    }
  }

  @Test
  void aTurnOfASessionIsExplainedByItsSession() throws Exception {
    server.as(server.token("poster", "submit", "read"));
    String task = "{\"task\":\"relu\"}";
    String session =
        ScriptedServer.json(server.post("/v1/sessions", "application/json", task))
            .path("id")
            .asString();
    String code = Json.mapper().writeValueAsString(Map.of("code", CODE));
    HttpResponse<String> turn =
        server.post("/v1/sessions/" + session + "/turns?wait=20", "application/json", code);
    String id = ScriptedServer.json(turn).path("judgement").asString();
    try (McpSyncClient client = client("read")) {
      for (String tool : List.of("explain", "profile")) {
        assertThat(error(call(client, tool, Map.of("id", id))))
            .isEqualTo(
                "id: %s is a turn of a session; GET /v1/sessions/%s has what was found in it"
                    .formatted(id, session));
      }
    }
  }

  @Test
  void resourcesAreStatementsAndDevices() {
    try (McpSyncClient client = client("read")) {
      assertThat(client.listResourceTemplates().resourceTemplates())
          .extracting(McpSchema.ResourceTemplate::uriTemplate)
          .containsExactly("kbx://tasks/{suite}/{category}/{name}");
      assertThat(read(client, "kbx://tasks/kernelbenchx/Activation/relu")).startsWith("# relu");
      assertThat(read(client, "kbx://devices")).contains("\"name\":\"scripted\"");
      assertThatThrownBy(() -> read(client, "kbx://tasks/kernelbenchx/Activation/reluu"))
          .isInstanceOf(McpError.class)
          .hasMessageContaining("did you mean relu");
    }
  }

  private static String read(McpSyncClient client, String uri) {
    var contents = client.readResource(ReadResourceRequest.builder(uri).build()).contents();
    return ((TextResourceContents) contents.getFirst()).text();
  }

  @Test
  void aToolNeedsTheScopeOfWhatItDoes() {
    try (McpSyncClient client = client("read")) {
      assertThat(error(call(client, "judge", kernel("relu"))))
          .startsWith("the token 'agent' lacks the scope 'submit'");
      assertThat(error(call(client, "reproduce", Map.of("id", "x/0"))))
          .startsWith("the token 'agent' lacks the scope 'admin'");
    }
    assertThat(server.referee.judged).isEmpty();
  }

  @Test
  void aTokenThatOnlySubmitsReadsNothing() {
    try (McpSyncClient client = client("submit")) {
      assertThat(object(call(client, "judge", kernel("relu"))).get("status").asString())
          .isEqualTo("correct");
      for (String tool : List.of("prompt", "best_known")) {
        assertThat(error(call(client, tool, Map.of("task", "relu"))))
            .startsWith("the token 'agent' lacks the scope 'read'");
      }
      assertThatThrownBy(() -> read(client, "kbx://devices"))
          .hasMessageContaining("lacks the scope 'read'");
    }
  }

  @Test
  void whatIsWrongIsToldInOneLine() {
    try (McpSyncClient client = client("submit", "read")) {
      assertThat(error(call(client, "judge", kernel("reluuu"))))
          .isEqualTo("no task 'reluuu' in suite kernelbenchx; did you mean relu?");
      assertThat(error(call(client, "judge", kernel("relu*"))))
          .startsWith("relu*: means 3 tasks, Activation/relu,");
      assertThat(error(call(client, "judge", Map.of("source", CODE))))
          .isEqualTo("judge: give task or reference, one of them");
      assertThat(error(call(client, "judge", Map.of("source", CODE, "reference", "/etc/passwd"))))
          .startsWith("reference: a server judges by tasks of its suites alone");
      assertThat(error(call(client, "judge", Map.of("task", "relu"))))
          .isEqualTo("source: is missing");
      assertThat(error(call(client, "judge", Map.of("task", "relu", "source", 1))))
          .startsWith("source: must be a string");
      assertThat(
              error(
                  call(
                      client,
                      "judge",
                      Map.of("task", "relu", "source", "#".repeat((1 << 20) + 1)))))
          .isEqualTo("source: has more than 1 MiB");
      assertThat(error(call(client, "prompt", Map.of("task", "relu", "grade", "best"))))
          .isEqualTo("grade: must be published or general");
      assertThat(error(call(client, "tasks", Map.of("limit", 0))))
          .isEqualTo("limit: must be a whole number from 1 to 1000");
      assertThat(error(call(client, "tasks", Map.of("glob", "*"))))
          .isEqualTo("tasks has no argument 'glob'; it has suite, filter, limit");
      assertThat(error(call(client, "tasks", Map.of("suite", "none"))))
          .isEqualTo("no suite 'none'; there are kernelbenchx");
      for (String id : List.of("x/", "none/0", "none/99999999999")) {
        assertThat(error(call(client, "explain", Map.of("id", id)))).startsWith("id: ");
      }
    }
    assertThat(server.referee.judged).isEmpty();
  }

  @Test
  void aClientHasItsShareOfTheQueueAndNoMore() throws Exception {
    server.referee.permits.drainPermits();
    String token = server.token("agent", "submit");
    server.as(token);
    List<Map<String, String>> half =
        IntStream.range(0, 500)
            .mapToObj(i -> Map.of("task", "relu", "code", CODE + "# " + i))
            .toList();
    HttpResponse<String> accepted =
        server.post(
            "/v1/judgements",
            "application/json",
            Json.mapper().writeValueAsString(Map.of("candidates", half)));
    assertThat(accepted.statusCode()).as(accepted.body()).isEqualTo(202);
    try (McpSyncClient client = holding(token)) {
      assertThat(error(call(client, "judge", kernel("relu")))).contains("500");
    }
  }

  @Test
  void whatIsNotJudgedInTimeHasAnIdToAskBy() throws Exception {
    server.referee.permits.drainPermits();
    try (McpSyncClient client = client("submit", "read")) {
      var judge = new FutureTask<>(() -> call(client, "judge", kernel("relu")));
      var _ = Thread.startVirtualThread(judge);
      Awaitility.await().until(() -> !server.store.service().queued().isEmpty());
      server.drain();
      CallToolResult waiting = judge.get(20, TimeUnit.SECONDS);
      String id = object(waiting).get("id").asString();
      assertThat(object(waiting).get("state").asString()).isEqualTo("queued");
      assertThat(text(waiting)).isEqualTo("Not judged yet: ask explain for id " + id + " later.");
      assertThat(error(call(client, "explain", Map.of("id", id))))
          .isEqualTo("id: " + id + " is not judged yet; ask again");
    }
  }

  @Test
  void whoSaysNothingValidIsRefusedAsByTheApi() throws Exception {
    server.as("");
    assertThat(post("{}").statusCode()).isEqualTo(401);
    server.as(server.token("agent", "read"));
    assertThat(post("{}").statusCode()).isEqualTo(400);
    assertThat(post("none").body()).contains("the message is no JSON-RPC");
    assertThat(server.get("/mcp").statusCode()).isEqualTo(405);
    String ping = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";
    assertThat(post(ping).body()).contains("\"id\":7").contains("\"result\":{}");
    String half =
        """
        {"jsonrpc":"2.0","id":8,"method":"tools/call",
         "params":{"name":"check","arguments":{"source":"\\ud800"}}}
        """;
    assertThat(post(half).body()).contains("source: must be a string");
    HttpResponse<String> future =
        server.send(
            server
                .to("/mcp")
                .header("Content-Type", "application/json")
                .header("MCP-Protocol-Version", "2999-01-01")
                .POST(HttpRequest.BodyPublishers.ofString(ping)));
    assertThat(future.statusCode()).isEqualTo(400);
  }

  private HttpResponse<String> post(String body) throws IOException, InterruptedException {
    return server.post("/mcp", "application/json", body);
  }
}
