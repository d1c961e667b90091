package dev.kbx.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dev.kbx.Bundled;
import dev.kbx.Patience;
import dev.kbx.candidate.Candidate;
import dev.kbx.device.Workers;
import dev.kbx.judge.FakeClock;
import dev.kbx.judge.FakeWorkers;
import dev.kbx.plan.Inputs;
import dev.kbx.plan.Plan;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.task.Suite;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.commons.codec.digest.DigestUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A server that times candidates beside kernels of experts. */
@Timeout(Patience.SECONDS)
class ExpertsServedTest {
  private static final Verdict.Device H200 =
      new Verdict.Device("cuda", "NVIDIA H200", "GPU-1", "580.95", "sm_90");
  private static final String KERNEL = "def relu(x):\n    return x.clamp(min=0)\n";
  private static final Map<String, Map<String, String>> EXPERTS =
      Map.of("kernelbenchx", Map.of("Activation/relu", KERNEL));

  @TempDir private Path folder;

  private SharedServer serve(int permits, Map<String, Map<String, String>> experts) {
    StoreAddress store = StoreAddress.of(folder.resolve("kbx.db"));
    return new SharedServer(store, folder, permits, H200, "1", experts, "kernelbenchx");
  }

  private static JsonNode post(String url, Object body) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      String text = Json.mapper().writeValueAsString(body);
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(url))
              .header("Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString(text))
              .build();
      return Json.mapper()
          .readTree(http.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }
  }

  private static void awaitDone(SharedServer server) {
    await().atMost(Patience.LIMIT).until(() -> server.store.service().queued().isEmpty());
  }

  @Test
  void candidatesAndTurnsAreJudgedBesideTheKernelOfTheirTask() throws Exception {
    try (SharedServer server = serve(1_000, EXPERTS)) {
      var _ = server.submit(0, 1);
      JsonNode session = post(server.url() + "/v1/sessions", Map.of("task", "relu"));
      String turns = "/v1/sessions/" + session.path("id").asString() + "/turns";
      var _ = post(server.url() + turns, Map.of("code", "def relu(x):\n    return x\n"));
      awaitDone(server);
      Candidate relu = candidate("relu");
      assertThat(server.referee.plans.values())
          .hasSize(2)
          .allSatisfy(plan -> assertThat(plan.expert(relu.task())).isEqualTo(KERNEL))
          .extracting(Plan::inputs)
          .containsExactlyInAnyOrder(Inputs.ALL, Inputs.DEVELOPMENT);
      assertThat(server.store.runs())
          .allSatisfy(run -> assertThat(requireNonNull(run.settings()).experts()).isNotNull());
    }
  }

  private static Candidate candidate(String task) {
    return new Candidate(
        Bundled.suite("kernelbenchx").task("Activation/" + task).orElseThrow(),
        "",
        "test",
        0,
        null,
        null,
        null);
  }

  @Test
  void serverWithOtherKernelsJudgesWhatWaitsInItsOwnRun() throws Exception {
    String id;
    String first;
    try (SharedServer server = serve(0, EXPERTS)) {
      id = server.ids(0, 1).getFirst();
      first = server.judgement(id).path("run").asString();
    }
    try (SharedServer server = serve(1_000, Map.of())) {
      awaitDone(server);
      assertThat(server.judgement(id).path("message").asString())
          .startsWith("accepted for run " + first)
          .endsWith("this server has other kernels of experts (--baseline)");
      assertThat(server.referee.plans.values())
          .allSatisfy(plan -> assertThat(plan.experts()).isEmpty());
    }
    try (SharedServer server = serve(1_000, EXPERTS)) {
      // The run of the first server, in which nothing was judged: its verdict is another one.
      assertThat(server.judgement(server.ids(0, 1).getFirst()).path("run").asString())
          .isEqualTo(first);
      awaitDone(server);
      assertThat(server.referee.judged).hasSize(1);
    }
  }

  @Test
  void tasksNameTheKernelThatTheyAreTimedBeside() throws Exception {
    try (SharedServer server = serve(0, EXPERTS)) {
      String tasks = "/v1/tasks/kernelbenchx/Activation/";
      assertThat(
              Json.mapper().readTree(server.get(tasks + "relu").body()).path("expert").asString())
          .isEqualTo(DigestUtils.sha256Hex(KERNEL));
      assertThat(Json.mapper().readTree(server.get(tasks + "gelu").body()).has("expert")).isFalse();
    }
  }

  /** A candidate of 50 ms a call, an expert's kernel of 40. */
  @Test
  void verdictsHaveTheShareOfTheExpertsSpeed() throws Exception {
    String measured =
        "{\"type\":\"measured\",\"id\":$id,\"device_ms\":[40,40,40,40],\"values\":[{},{},{},{}],\"seconds\":0,\"host_bound\":0}";
    Candidate expert = FakeWorkers.candidate("timed", Map.of("measure", List.of(measured)));
    Path root = Files.createDirectory(folder.resolve("suite"));
    Files.writeString(root.resolve("timed.py"), "");
    Suite suite = new Suite("suite", root, List.of(expert.task()), List.of());
    StoreAddress address = StoreAddress.of(folder.resolve("kbx.db"));
    try (Workers workers = FakeWorkers.start(FakeClock.in(folder));
        RunStore store = RunStore.open(address);
        RunStore reads = RunStore.open(address);
        KbxServer server =
            KbxServer.start(
                new Listening("127.0.0.1", 0, false, Optional.empty()),
                store,
                reads,
                new Machine(
                        FakeWorkers.referee(workers.slot(DeviceSlot.cuda(0))),
                        FakeWorkers.DEVICE,
                        Map.of(),
                        "secret",
                        Map.of("suite", suite),
                        Bundled.STATEMENT)
                    .beside(Map.of("suite", Map.of(expert.task().path(), expert.code()))),
                100,
                folder)) {
      JsonNode answer =
          post(
              server.url() + "/v1/judgements?wait=60",
              Map.of(
                  "task",
                  "timed",
                  "code",
                  "{}",
                  "plan",
                  Map.of("stages", List.of("call", "correct", "perf"))));
      JsonNode baselines = answer.path("judgements").path(0).path("verdict").path("baselines");
      assertThat(baselines.path(1).path("name").asString()).as("%s", answer).isEqualTo("expert");
      assertThat(baselines.path(1).path("speedup").asDouble()).isCloseTo(0.8, within(1e-6));
    }
  }
}
