package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kbx.Patience;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.store.Submission;
import dev.kbx.verdict.Verdict;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A server goes on with the queue of another, whose device, versions or suites were different. */
@Timeout(Patience.SECONDS)
class ChangedMachineTest {
  private static final Verdict.Device EPYC =
      new Verdict.Device("cpu", "AMD EPYC", null, null, null);
  private static final Verdict.Device H200 =
      new Verdict.Device("cuda", "NVIDIA H200", "GPU-1", "580.95", "sm_90");
  private static final Verdict.Device OTHER_H200 =
      new Verdict.Device("cuda", "NVIDIA H200", "GPU-2", "580.95", "sm_90");

  @TempDir private Path folder;

  private SharedServer serve(int permits, Verdict.Device device, String version, String... suites) {
    return new SharedServer(
        StoreAddress.of(folder.resolve("kbx.db")), folder, permits, device, version, suites);
  }

  /** All verdicts of a run are of its device. */
  private static void assertUnmixed(RunStore store, int verdicts) {
    int all = 0;
    for (var run : store.runs()) {
      assertThat(store.verdicts(run.id()).values())
          .allSatisfy(
              each -> assertThat(each.judgement().device().name()).isEqualTo(run.device().name()));
      all += store.count(run.id());
    }
    assertThat(all).isEqualTo(verdicts);
  }

  private static List<String> done(SharedServer server, List<String> ids) throws Exception {
    List<String> done = new ArrayList<>();
    for (String id : ids) {
      if (server.judgement(id).path("state").asString().equals("done")) done.add(id);
    }
    return done;
  }

  @Test
  void candidatesQueuedForAnotherDeviceMoveToANewRun() throws Exception {
    String judged;
    String queued;
    String first;
    try (SharedServer server = serve(2, EPYC, "1", "kernelbenchx")) {
      List<String> ids = server.ids(0, 6);
      first = server.judgement(ids.getFirst()).path("run").asString();
      // All six are begun; which two get the referee's permits is chance.
      await().atMost(Patience.LIMIT).until(() -> done(server, ids).size() == 2);
      List<String> done = done(server, ids);
      judged = done.getFirst();
      queued = ids.stream().filter(id -> !done.contains(id)).findFirst().orElseThrow();
    }
    try (SharedServer server = serve(1_000, H200, "2", "kernelbenchx")) {
      await().atMost(Patience.LIMIT).until(() -> server.store.service().queued().isEmpty());
      assertThat(server.judgement(judged).path("run").asString()).isEqualTo(first);
      assertThat(server.judgement(judged).has("accepted_for")).isFalse();
      JsonNode moved = server.judgement(queued);
      String second = moved.path("run").asString();
      assertThat(second).isNotEqualTo(first);
      assertThat(moved.path("accepted_for").asString()).isEqualTo(first);
      assertThat(moved.path("verdict").path("run").asString()).isEqualTo(second);
      assertThat(moved.path("message").asString())
          .isEqualTo(
              "accepted for run %s, judged in run %s: this server has NVIDIA H200 with driver 580.95 instead of AMD EPYC, kbx 2 instead of 1"
                  .formatted(first, second));
      assertUnmixed(server.store, 6);
      // What comes now is of the same client and plan.
      assertThat(server.judgement(server.ids(50, 1).getFirst()).path("run").asString())
          .isEqualTo(second);
    }
  }

  /** A card of the same model with the same driver is no other device. */
  @Test
  void queueStaysInItsRunOnAnotherCardOfTheModel() throws Exception {
    String id;
    try (SharedServer server = serve(0, H200, "1", "kernelbenchx")) {
      id = server.ids(0, 1).getFirst();
    }
    try (SharedServer server = serve(10, OTHER_H200, "1", "kernelbenchx")) {
      await()
          .atMost(Patience.LIMIT)
          .until(() -> server.judgement(id).path("state").asString().equals("done"));
      assertThat(server.judgement(id).has("accepted_for")).isFalse();
      assertThat(server.store.runs()).hasSize(1);
    }
  }

  /** To another machine and back: it is judged in the run that it was accepted for. */
  @Test
  void queueReturningToItsMachineIsInItsFirstRun() throws Exception {
    List<String> ids;
    String first;
    try (SharedServer server = serve(0, EPYC, "1", "kernelbenchx")) {
      ids = server.ids(0, 3);
      first = server.judgement(ids.getFirst()).path("run").asString();
    }
    try (SharedServer server = serve(0, H200, "1", "kernelbenchx")) {
      assertThat(server.judgement(ids.getLast()).path("accepted_for").asString()).isEqualTo(first);
    }
    try (SharedServer server = serve(10, EPYC, "1", "kernelbenchx")) {
      await().atMost(Patience.LIMIT).until(() -> server.store.service().queued().isEmpty());
      JsonNode back = server.judgement(ids.getLast());
      assertThat(back.path("run").asString()).isEqualTo(first);
      assertThat(back.has("accepted_for")).isFalse();
      assertThat(back.has("message")).isFalse();
      assertUnmixed(server.store, 3);
    }
  }

  /** A GPU that cannot be used after a restart must not end the queue without a timing. */
  @Test
  void candidateToBeTimedWaitsForAGpu() throws Exception {
    String id;
    try (SharedServer server = serve(0, H200, "1", "kernelbenchx")) {
      id = server.ids(0, 1).getFirst();
    }
    try (SharedServer server = serve(10, EPYC, "1", "kernelbenchx")) {
      assertThat(server.judgement(id).path("message").asString())
          .isEqualTo("waits: this server has no GPU to time it on, as NVIDIA H200");
      assertThat(server.get("/v1/queue").body()).contains("\"held\":1");
    }
    try (SharedServer server = serve(10, H200, "1", "kernelbenchx")) {
      await().atMost(Patience.LIMIT).until(() -> server.store.service().queued().isEmpty());
      assertThat(server.judgement(id).path("state").asString()).isEqualTo("done");
      assertUnmixed(server.store, 1);
    }
  }

  @Test
  void candidateOfAnUnservedSuiteWaits() throws Exception {
    List<String> ids;
    try (SharedServer server = serve(0, EPYC, "1", "kernelbenchx")) {
      ids = server.ids(0, 3);
    }
    try (SharedServer server = serve(1_000, EPYC, "1", "kernelbench")) {
      JsonNode waits = server.judgement(ids.getFirst());
      assertThat(waits.path("state").asString()).isEqualTo("queued");
      assertThat(waits.has("ahead")).isFalse();
      assertThat(waits.path("message").asString())
          .isEqualTo("waits: this server does not serve the suite 'kernelbenchx' (--suite)");
      assertThat(server.get("/v1/queue").body()).contains("\"held\":3", "\"queued\":0");
      var cancelled =
          server.send(
              HttpRequest.newBuilder(URI.create(server.url() + "/v1/judgements/" + ids.getLast()))
                  .DELETE());
      assertThat(cancelled.statusCode()).isBetween(200, 204);
      assertThat(server.get("/v1/queue").body()).contains("\"held\":2");
    }
    try (SharedServer server = serve(1_000, EPYC, "1", "kernelbench", "kernelbenchx")) {
      await().atMost(Patience.LIMIT).until(() -> server.store.service().queued().isEmpty());
      assertThat(server.judgement(ids.getFirst()).path("state").asString()).isEqualTo("done");
      assertThat(server.judgement(ids.getFirst()).has("message")).isFalse();
      assertThat(server.store.service().submissions(List.of(ids.getLast())).getFirst().state())
          .isEqualTo(Submission.State.CANCELLED);
    }
  }
}
