package dev.kbx.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** How real processes end: what they say, and what they leave. */
@Timeout(Patience.SECONDS)
class EndingTest {
  private static final Path HONEST = Kbx.home().resolve("corpus/honest");

  @TempDir private Path folder;
  private Path temporary;

  @BeforeEach
  void makeFolder() throws IOException {
    temporary = Files.createDirectory(folder.resolve("tmp"));
  }

  @Test
  void stoppingTheServerAnswersWaitingRequestsWithTheCurrentState() throws Exception {
    try (ServedKbx server = served();
        HttpClient http = HttpClient.newHttpClient()) {
      var waiting = ask(http, submission(server, 60));
      patiently().until(() -> !ids(http, server).isEmpty());
      String last = ids(http, server).getFirst(); // The newest, which is judged last.
      var any = ask(http, get(server, "/v1/judgements?until=any&wait=60&ids=" + last));
      var one = ask(http, get(server, "/v1/judgements/%s?wait=60".formatted(last)));
      String run =
          Json.mapper()
              .readTree(text(http, server, "/v1/judgements/" + last))
              .path("run")
              .asString();
      var events = ask(http, get(server, "/v1/runs/%s/events?follow=true".formatted(run)));
      patiently().until(() -> text(http, server, "/v1/runs/" + run).contains("\"verdicts\""));

      server.stop();

      assertThat(waiting.join().statusCode()).as(waiting.join().body()).isEqualTo(202);
      assertThat(waiting.join().body()).contains("\"state\":\"queued\"");
      assertThat(List.of(any.join().statusCode(), one.join().statusCode())).containsOnly(200);
      assertThat(one.join().body()).contains("\"state\":\"queued\"");
      assertThat(events.join().body()).contains("event:end");
      assertThat(server.awaitEnd()).isEqualTo(ExitCode.OK);
      List<String> said = Files.readAllLines(folder.resolve("serve.err"), UTF_8);
      assertThat(said.getLast()).startsWith("kbx: stopped");
      assertThat(said.stream().filter(line -> line.contains("\"status\":202"))).hasSize(1);
    }
    assertThat(temporary).isEmptyDirectory();
  }

  @Tag("soak-only")
  @Test
  void leftoversOfAKilledProcessAreDeletedByTheNext() throws Exception {
    Process killed = eval("killed");
    patiently().until(() -> !leftovers().isEmpty());
    killed.destroyForcibly().waitFor();
    List<Path> left = leftovers();
    assertThat(left).hasSize(1);

    Process interrupted = eval("interrupted");
    patiently().until(() -> !leftovers().equals(left));
    assertThat(leftovers()).doesNotContainAnyElementsOf(left);
    interrupted.destroy();
    interrupted.waitFor();

    assertThat(temporary).isEmptyDirectory();
  }

  private ServedKbx served() throws IOException {
    return ServedKbx.start(folder, Map.of("TMPDIR", temporary.toString()), "--log-json");
  }

  private Process eval(String name) throws IOException {
    return Kbx.start(
        folder,
        Map.of("TMPDIR", temporary.toString()),
        folder.resolve(name + ".out"),
        folder.resolve(name + ".err"),
        "eval",
        HONEST,
        "--out",
        folder.resolve(name));
  }

  private static ConditionFactory patiently() {
    return await().atMost(Patience.SECONDS, TimeUnit.SECONDS);
  }

  private List<Path> leftovers() throws IOException {
    try (Stream<Path> all = Files.list(temporary)) {
      return all.filter(each -> each.getFileName().toString().startsWith("kbx-")).toList();
    }
  }

  /** More than are judged before the test ends. */
  private static HttpRequest submission(ServedKbx server, int count) throws IOException {
    String code = Files.readString(HONEST.resolve("alignment_check/fused_log_tanh.py"));
    List<Map<String, Object>> candidates = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      candidates.add(
          Map.ofEntries(entry("task", "Fusion/fused_log_tanh"), entry("code", code + "\n# " + i)));
    }
    String body = Json.mapper().writeValueAsString(Map.of("candidates", candidates));
    return HttpRequest.newBuilder(URI.create(server.url() + "/v1/judgements?wait=60"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  private static HttpRequest get(ServedKbx server, String path) {
    return HttpRequest.newBuilder(URI.create(server.url() + path)).build();
  }

  private static CompletableFuture<HttpResponse<String>> ask(HttpClient http, HttpRequest request) {
    return http.sendAsync(request, BodyHandlers.ofString());
  }

  private static String text(HttpClient http, ServedKbx server, String path) throws Exception {
    return http.send(get(server, path), BodyHandlers.ofString()).body();
  }

  private static List<String> ids(HttpClient http, ServedKbx server) throws Exception {
    List<String> ids = new ArrayList<>();
    JsonNode all = Json.mapper().readTree(text(http, server, "/v1/judgements?state=queued"));
    for (JsonNode each : all.path("judgements")) ids.add(each.path("id").asString());
    return ids;
  }
}
