package dev.kbx.server;

import dev.kbx.Bundled;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** A server over real HTTP and a store that others come to before, after, or beside it. */
final class SharedServer implements AutoCloseable {
  final ScriptedReferee referee = new ScriptedReferee();
  final RunStore store;
  private final RunStore reads;
  private final KbxServer server;
  private final HttpClient http = HttpClient.newHttpClient();

  /**
   * @param device that its verdicts are on
   * @param suites that it serves: names of bundled ones, and folders
   */
  SharedServer(
      StoreAddress address,
      Path folder,
      int permits,
      Verdict.Device device,
      String version,
      String... suites) {
    this(address, folder, permits, device, version, Map.of(), suites);
  }

  /**
   * @param experts sources of experts' kernels, by suite, then by the path of their task
   */
  SharedServer(
      StoreAddress address,
      Path folder,
      int permits,
      Verdict.Device device,
      String version,
      Map<String, Map<String, String>> experts,
      String... suites) {
    referee.permits.drainPermits();
    referee.permits.release(permits);
    referee.answer = on(device);
    store = RunStore.open(address);
    store.claim(ServiceStore.CLAIM);
    reads = RunStore.open(address);
    Map<String, Suite> served = new LinkedHashMap<>();
    for (String name : suites) {
      Suite suite = name.contains("/") ? Suites.open(name, Path.of("tasks")) : Bundled.suite(name);
      served.put(suite.name(), suite);
    }
    server =
        KbxServer.start(
            new Listening("127.0.0.1", 0, false, Optional.empty()),
            store,
            reads,
            new Machine(
                    referee, device, Map.of("kbx", version), "secret", served, Bundled.STATEMENT)
                .beside(experts),
            1_000,
            folder);
  }

  private static dev.kbx.verdict.Judgement on(Verdict.Device device) {
    var json =
        (tools.jackson.databind.node.ObjectNode)
            Json.mapper().valueToTree(ScriptedReferee.judgement("correct", true));
    json.set("device", Json.mapper().valueToTree(device));
    return Json.mapper().treeToValue(json, dev.kbx.verdict.Judgement.class);
  }

  String url() {
    return server.url();
  }

  HttpResponse<String> get(String path) throws Exception {
    return send(HttpRequest.newBuilder(URI.create(url() + path)));
  }

  HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  HttpResponse<String> submit(int from, int count) throws Exception {
    List<Map<String, String>> candidates = new ArrayList<>();
    for (int i = from; i < from + count; i++) {
      candidates.add(
          Map.of(
              "task", "Activation/relu", "code", "def relu(x):\n    return x + %d\n".formatted(i)));
    }
    return send(
        HttpRequest.newBuilder(URI.create(url() + "/v1/judgements"))
            .header("Content-Type", "application/json")
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    Json.mapper().writeValueAsString(Map.of("candidates", candidates)))));
  }

  /** Ids of accepted candidates. */
  List<String> ids(int from, int count) throws Exception {
    List<String> ids = new ArrayList<>();
    for (JsonNode each : json(submit(from, count)).path("judgements")) {
      ids.add(each.path("id").asString());
    }
    return ids;
  }

  JsonNode judgement(String id) throws Exception {
    return json(get("/v1/judgements/" + id));
  }

  static JsonNode json(HttpResponse<String> response) {
    return Json.mapper().readTree(response.body());
  }

  @Override
  public void close() {
    server.close();
    reads.close();
    store.close();
    http.close();
  }
}
