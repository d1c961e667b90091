package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.store.Submission;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * A server whose machine loses power. A library in its process keeps the database's files as they
 * were when they were last synced; after a kill these take the place of those that are there.
 */
@Timeout(Patience.SECONDS)
class PowerCutTest {
  private static final int CANDIDATES = 20;

  private final HttpClient http = HttpClient.newHttpClient();

  @TempDir private Path folder;

  @Tag("soak-only")
  @Test
  void acceptedAndJudgedCandidatesSurviveAPowerFailure() throws Exception {
    Path data = Files.createDirectory(folder.resolve("data")).toRealPath();
    Path synced = Files.createDirectory(folder.resolve("synced")).toRealPath();
    Path file = data.resolve("kbx.db");
    Map<String, String> environment =
        Map.of(
            "LD_PRELOAD", library().toString(),
            "KBX_TEST_WATCHED", file.toString(),
            "KBX_TEST_SYNCED", synced.toString());
    try (ServerProcess server =
        ServerProcess.start(file.toString(), folder, false, 1_000, environment)) {
      List<JsonNode> judged = submit(server, "?wait=60", 0);
      assertThat(judged).allMatch(each -> each.path("state").asString().equals("done"));
      List<JsonNode> accepted = submit(server, "", CANDIDATES);
      server.kill();
      loseWhatIsNotSynced(data, synced);

      try (RunStore store = RunStore.open(StoreAddress.of(file))) {
        assertThat(store.service().submissions(ids(accepted))).hasSize(CANDIDATES);
        assertThat(store.service().submissions(ids(judged))).hasSize(CANDIDATES);
        String run = judged.getFirst().path("run").asString();
        List<Integer> positions =
            judged.stream().map(each -> each.path("position").asInt()).toList();
        assertThat(store.service().verdicts(run, positions)).hasSize(CANDIDATES);
      }
      server.startAgain();
      try (RunStore store = RunStore.open(StoreAddress.of(file))) {
        await().atMost(Patience.LIMIT).until(() -> store.service().queued().isEmpty());
        assertThat(store.service().submissions(ids(accepted)))
            .allMatch(each -> each.state() == Submission.State.DONE);
      }
    } finally {
      http.close();
    }
  }

  private Path library() throws Exception {
    Path library = folder.resolve("synced.so");
    Process compiler =
        new ProcessBuilder(
                "c++",
                "-x",
                "c",
                "-shared",
                "-fPIC",
                "-o",
                library.toString(),
                "java/tests/src/test/resources/store/synced.c",
                "-ldl")
            .inheritIO()
            .start();
    assertThat(compiler.waitFor()).isZero();
    return library;
  }

  private static void loseWhatIsNotSynced(Path data, Path synced) throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      for (Path each : files.toList()) {
        Path kept = synced.resolve(each.getFileName());
        if (Files.exists(kept)) Files.copy(kept, each, StandardCopyOption.REPLACE_EXISTING);
        else Files.delete(each);
      }
    }
  }

  private static List<String> ids(List<JsonNode> judgements) {
    return judgements.stream().map(each -> each.path("id").asString()).toList();
  }

  private List<JsonNode> submit(ServerProcess server, String query, int from) throws Exception {
    List<JsonNode> answers = new ArrayList<>();
    for (int i = from; i < from + CANDIDATES; i++) {
      String body =
          Json.mapper()
              .writeValueAsString(Map.of("task", "Activation/relu", "code", Load.source(i)));
      HttpResponse<String> answer =
          http.send(
              HttpRequest.newBuilder(URI.create(server.url() + "/v1/judgements" + query))
                  .header("Content-Type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofString(body))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isBetween(200, 202);
      answers.add(SharedServer.json(answer).path("judgements").get(0));
    }
    return answers;
  }
}
