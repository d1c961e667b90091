package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import dev.kbx.Patience;
import dev.kbx.store.ServiceStore.Audit;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunLabel;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Who may do what, on a server that needs tokens; docs/serve.md names these tests. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(Patience.SECONDS)
class SecurityTest {
  private static final Set<String> FREE =
      Set.of("GET /health/live", "GET /health/ready", "GET /openapi.yaml", "GET /docs");
  private static final Set<String> SUBMITS =
      Set.of(
          "POST /v1/judgements",
          "DELETE /v1/judgements/{id}",
          "POST /v1/uploads",
          "POST /v1/sessions",
          "DELETE /v1/sessions/{id}",
          "POST /v1/sessions/{id}/turns",
          "POST /v1/sessions/{id}/final",
          "PATCH /v1/runs/{id}");

  private Path folder;
  private ScriptedServer server;
  private String ann;
  private String ben;
  private String reader;
  private String submitter;
  private String gone;
  private String admin;

  @BeforeAll
  void start(@TempDir Path given) throws Exception {
    folder = given;
    server = new ScriptedServer(folder, true);
    ann = server.token("ann", "submit", "read");
    ben = server.token("ben", "submit", "read");
    reader = server.token("reader", "read");
    submitter = server.token("submitter", "submit");
    gone = server.token("gone", "read");
    admin = server.token("chief", "admin");
  }

  @AfterAll
  void stop() {
    server.close();
  }

  /** The status of the answer to an operation of the contract. */
  private HttpResponse<String> ask(String operation) throws Exception {
    String[] parts = operation.split(" ", 2);
    String path = parts[1].replaceAll("\\{[^}]+}", "x");
    return server.send(server.to(path).method(parts[0], BodyPublishers.noBody()));
  }

  @Test
  void eachOperationNeedsATokenWithItsScope() throws Exception {
    for (String operation : server.contract.operations()) {
      int without = withoutToken(operation);
      int wrong = ask(server.as(SUBMITS.contains(operation) ? reader : submitter), operation);
      if (FREE.contains(operation)) {
        assertThat(without).as(operation).isEqualTo(200);
      } else {
        assertThat(without).as(operation).isEqualTo(401);
        assertThat(wrong).as(operation).isEqualTo(403);
        assertThat(ask(server.as(admin), operation)).as(operation).isNotIn(401, 403);
      }
    }
  }

  /** Asks again a second later where many have just asked so: these are slowed down. */
  private int withoutToken(String operation) throws Exception {
    int status = ask(server.as(""), operation);
    if (status != 429) return status;
    Thread.sleep(Duration.ofSeconds(1));
    return ask(server.as(""), operation);
  }

  private int ask(ScriptedServer as, String operation) throws Exception {
    assertThat(as).isSameAs(server);
    return ask(operation).statusCode();
  }

  @Test
  void clientCancelsOnlyItsCandidates() throws Exception {
    server.referee.permits.drainPermits();
    for (int i = 0; i < 30; i++) {
      HttpResponse<String> accepted = server.as(ann).submit("", "x = %d".formatted(i));
      assertThat(accepted.statusCode()).isEqualTo(202);
    }
    String mine = id(server.as(ann).submit("", "x = 30"));
    String other = id(server.as(ann).submit("", "x = 31"));
    assertThat(cancel(server.as(ben), mine)).isEqualTo(403);
    assertThat(cancel(server.as(reader), mine)).isEqualTo(403);
    assertThat(cancel(server.as(ann), mine)).isEqualTo(200);
    assertThat(cancel(server.as(admin), other)).isEqualTo(200);
    server.referee.permits.release(1_000_000);
    assertThat(server.store.service().audits(100))
        .extracting(Audit::client, Audit::action)
        .contains(tuple("ann", "cancel"))
        .contains(tuple("chief", "cancel"))
        .doesNotContain(tuple("ben", "cancel"));
  }

  private static String id(HttpResponse<String> response) {
    return ScriptedServer.json(response).at("/judgements/0/id").asString();
  }

  private static int cancel(ScriptedServer as, String id) throws Exception {
    return as.send(as.to("/v1/judgements/" + id).DELETE()).statusCode();
  }

  @Test
  void aFormNeedsTheScopeToSubmit() throws Exception {
    String form = "task=Activation/relu&code=x";
    String type = "application/x-www-form-urlencoded";
    assertThat(server.as(reader).post("/submit", type, form).statusCode()).isEqualTo(403);
    assertThat(server.as(ann).post("/submit", type, form).statusCode()).isEqualTo(303);
  }

  @Test
  void whoSubmitsMayNameRuns() throws Exception {
    String run =
        ScriptedServer.json(server.as(ann).submit("?wait=20", "x = 50")).path("run").asString();
    String type = "application/x-www-form-urlencoded";
    String page = "/runs/" + run;
    assertThat(server.as(reader).get(page).body()).doesNotContain("name=\"note\"");
    assertThat(server.as(reader).post(page, type, "name=x").statusCode()).isEqualTo(403);
    assertThat(server.as(ann).post(page, type, "name=by+ann&note=1%0D%0A2").statusCode())
        .isEqualTo(303);
    assertThat(server.store.run(run).orElseThrow().label())
        .isEqualTo(new RunLabel("by ann", "1\n2"));
    assertThat(server.as(ann).post(page, type, "name=" + "x".repeat(101)).statusCode())
        .isEqualTo(422);
    assertThat(server.as(ann).post("/runs/none", type, "name=x").statusCode()).isEqualTo(404);
    assertThat(server.as(ann).get(page).body()).contains("<h1>by ann</h1>", "1\n2</textarea>");
    assertThat(server.store.service().audits(100))
        .extracting(Audit::client, Audit::action)
        .contains(tuple("ann", "label run"))
        .doesNotContain(tuple("reader", "label run"));
  }

  @Test
  void equalKeysOfTwoClientsAreDistinct() throws Exception {
    String body = "{\"task\":\"relu\",\"code\":\"x = 90\",\"key\":\"same\"}";
    String first = id(server.as(ann).post("/v1/judgements?wait=20", "application/json", body));
    String second = id(server.as(ben).post("/v1/judgements?wait=20", "application/json", body));
    assertThat(second).isNotEqualTo(first);
  }

  @Test
  void serverFieldsInRequestsAreIgnored() throws Exception {
    Map<String, Object> sent =
        Map.of(
            "task",
            "relu",
            "code",
            "x = 91",
            "client",
            "ben",
            "state",
            "done",
            "id",
            "j_1",
            "verdict",
            Map.of("status", "correct", "speedup", 9),
            "submitted",
            "2020-01-01");
    JsonNode judgement =
        ScriptedServer.json(
                server
                    .as(ann)
                    .post(
                        "/v1/judgements?wait=20",
                        "application/json",
                        Json.mapper().writeValueAsString(sent)))
            .at("/judgements/0");
    assertThat(judgement.path("client").asString()).isEqualTo("ann");
    assertThat(judgement.path("id").asString()).isNotEqualTo("j_1");
    assertThat(judgement.path("submitted").asString()).doesNotStartWith("2020");
    assertThat(judgement.at("/verdict/speedup").isMissingNode()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/runs/..%2F..%2Fkbx.db",
        "/v1/runs/%2e%2e/verdicts",
        "/v1/candidates/..%2Fkbx.db",
        "/v1/judgements/..%2Fkbx.db",
        "/v1/tasks/..%2F..%2Fetc/passwd/x",
        "/v1/tasks/kernelbenchx/..%2F../relu/prompt",
        "/candidates/..%2Fkbx.db",
        "/assets/..%2Fdashboard.css",
        "/runs/'%20OR%201=1--"
      })
  void pathTraversalInAddressesIsRefused(String path) throws Exception {
    assertThat(server.as(admin).get(path).statusCode()).as(path).isIn(400, 404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"../up.py", "/tmp/kbx-up.py", "a/../../up.py", "a\\..\\up.py"})
  void pathTraversalInArchivesIsRefused(String name) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      zip.putNextEntry(new ZipEntry(name));
      zip.write('x');
    }
    HttpResponse<String> response = upload("application/zip", bytes);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(422);
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).noneMatch(each -> each.getFileName().toString().startsWith("upload"));
    }
  }

  @Test
  void impossibleFileNameIsRefused() throws Exception {
    pathTraversalInArchivesIsRefused("Activation/%s.py".formatted("x".repeat(300)));
  }

  private HttpResponse<String> upload(String type, ByteArrayOutputStream bytes) throws Exception {
    return server
        .as(ann)
        .send(
            server
                .to("/v1/uploads")
                .header("Content-Type", type)
                .POST(BodyPublishers.ofByteArray(bytes.toByteArray())));
  }

  @Test
  void largeBodiesAreRefused() throws Exception {
    String candidate = "{\"task\":\"relu\",\"code\":\"%s\"}".formatted("x".repeat(17 << 20));
    HttpRequest.Builder large =
        server
            .as(ann)
            .to("/v1/judgements")
            .header("Content-Type", "application/json")
            .expectContinue(true) // Who sends on unasked may see the connection end first.
            .POST(BodyPublishers.ofString(candidate));
    assertThat(server.as(ann).send(large).statusCode()).isEqualTo(413);
    String code = "{\"task\":\"relu\",\"code\":\"%s\"}".formatted("x".repeat(2 << 20));
    assertThat(server.as(ann).post("/v1/judgements", "application/json", code).statusCode())
        .isEqualTo(422);
  }

  @ParameterizedTest
  @ValueSource(strings = {"application/json", "text/plain", "multipart/form-data"})
  void formNeedsItsContentType(String type) throws Exception {
    assertThat(server.as("").post("/login", type, "{}").statusCode()).isEqualTo(415);
    String form = "application/x-www-form-urlencoded";
    assertThat(server.post("/login", form, "token=%zz").statusCode()).isIn(400, 401);
  }

  @Test
  void newTokenIsValidAtOnce() throws Exception {
    assertThat(server.as("kbx_0").get("/v1/queue").statusCode()).isEqualTo(401);
    for (int i = 0; i < 5; i++) {
      String fresh = server.token("fresh" + i, "read");
      assertThat(server.as(fresh).get("/v1/queue").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void overlongNameIsRefused() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (TarArchiveOutputStream tar =
        new TarArchiveOutputStream(new GZIPOutputStream(bytes), "UTF-8")) {
      TarArchiveEntry name = new TarArchiveEntry("././@LongLink", TarConstants.LF_GNUTYPE_LONGNAME);
      name.setSize(50_000_000);
      tar.putArchiveEntry(name);
      tar.write(new byte[50_000_000]);
      tar.closeArchiveEntry();
    }
    HttpResponse<String> response = upload("application/gzip", bytes);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(422);
    assertThat(response.body()).contains("a name is too long");
  }

  @Test
  void errorsHideInternals() throws Exception {
    HttpResponse<String> response =
        server.as(ann).post("/v1/judgements", "application/json", "{\"candidates\": [[[");
    assertThat(response.body())
        .doesNotContain("dev.kbx", "tools.jackson", "java.", folder.toString());
    for (String path : new String[] {"/v1/version", "/v1/nothing", "/login"}) {
      HttpResponse<String> any = server.as(ann).get(path);
      assertThat(any.headers().firstValue("X-Content-Type-Options")).as(path).contains("nosniff");
      assertThat(any.headers().firstValue("Access-Control-Allow-Origin")).as(path).isEmpty();
      assertThat(any.headers().firstValue("Server")).as(path).isEmpty();
    }
  }

  @Test
  void aRevokedTokenIsRefused() throws Exception {
    assertThat(server.as(gone).get("/v1/queue").statusCode()).isEqualTo(200);
    assertThat(server.store.service().revokeToken("gone", Instant.now())).isTrue();
    Awaitility.await()
        .untilAsserted(
            () -> assertThat(server.as(gone).get("/v1/queue").statusCode()).isEqualTo(401));
  }

  @Test
  void expiredTokenIsRefusedAsExpired() throws Exception {
    Tokens tokens = new Tokens(server.store.service());
    List<String> scopes = List.of("read");
    Instant past = Instant.parse("2026-01-02T03:04:05Z");
    String old = tokens.create("old", scopes, past).orElseThrow();
    var refused = server.as(old).get("/v1/queue");
    assertThat(refused.statusCode()).isEqualTo(401);
    assertThat(refused.body()).contains("the token 'old' expired at 2026-01-02T03:04:05Z");
    Instant later = Instant.now().plusSeconds(3_600);
    String renewed = tokens.create("old", scopes, later).orElseThrow();
    assertThat(server.as(renewed).get("/v1/queue").statusCode()).isEqualTo(200);
    assertThat(server.as(old).get("/v1/queue").body()).contains("not valid");
    assertThat(tokens.create("old", scopes, later)).isEmpty();
  }
}
