package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.store.StoreAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** No verdict answers for a candidate whose reference may compute something else meanwhile. */
@Timeout(Patience.SECONDS)
class ChangedSuiteTest {
  @TempDir private Path folder;
  private Path task = Path.of("");

  @BeforeEach
  void copyTask() throws Exception {
    task = Files.createDirectories(folder.resolve("own/Activation")).resolve("relu.py");
    Files.copy(Path.of("tasks/kernelbenchx/Activation/relu.py"), task);
  }

  private SharedServer serve(int permits) {
    return new SharedServer(
        StoreAddress.of(folder.resolve("kbx.db")),
        folder,
        permits,
        ScriptedReferee.DEVICE,
        "1",
        folder.resolve("own").toString());
  }

  private static JsonNode judged(SharedServer server) throws Exception {
    String id = server.ids(0, 1).getFirst();
    await()
        .atMost(Patience.LIMIT)
        .until(() -> server.judgement(id).path("state").asString().equals("done"));
    return server.judgement(id);
  }

  private void append(String code) throws Exception {
    Files.writeString(task, Files.readString(task) + code);
  }

  @Test
  void changedTaskIsJudgedAgain() throws Exception {
    JsonNode first;
    try (SharedServer server = serve(9)) {
      first = judged(server);
      assertThat(judged(server).path("cached").asBoolean()).isTrue();
      assertThat(server.referee.judged).hasSize(1);
    }
    append("\nCHANGED = True\n");
    try (SharedServer server = serve(9)) {
      JsonNode second = judged(server);
      assertThat(second.path("cached").asBoolean()).isFalse();
      assertThat(second.path("run").asString()).isNotEqualTo(first.path("run").asString());
      assertThat(server.referee.judged).hasSize(1);
    }
  }

  @Test
  void candidateQueuedForAChangedTaskMovesToANewRun() throws Exception {
    String id;
    try (SharedServer server = serve(0)) {
      id = server.ids(0, 1).getFirst();
    }
    append("\nCHANGED = True\n");
    try (SharedServer server = serve(9)) {
      await().atMost(Patience.LIMIT).until(() -> server.store.service().queued().isEmpty());
      assertThat(server.judgement(id).path("message").asString())
          .endsWith("this server has another seed or suite");
    }
  }

  /** Its file stays as it is; what it reads may not. */
  @Test
  void taskThatMayReadOtherFilesIsJudgedEachTime() throws Exception {
    append("\nWEIGHTS = torch.load\n");
    for (int servers = 0; servers < 2; servers++) {
      try (SharedServer server = serve(9)) {
        JsonNode first = judged(server);
        JsonNode second = judged(server);
        assertThat(server.referee.judged).hasSize(2);
        assertThat(second.path("cached").asBoolean()).isFalse();
        assertThat(second.path("position")).isEqualTo(first.path("position"));
        assertThat(server.store.count(first.path("run").asString())).isEqualTo(1);
      }
    }
  }
}
