package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;

/**
 * A server over real HTTP and a real store, whose referee finds everything correct. Whatever it
 * answers must be in its contract.
 */
final class ScriptedServer implements AutoCloseable {
  final ScriptedReferee referee = new ScriptedReferee();

  /** Operations that were asked for. */
  final TreeSet<String> asked = new TreeSet<>();

  final Contract contract;
  final RunStore store;
  private final RunStore reads;
  private final KbxServer server;
  private final HttpClient http = HttpClient.newHttpClient();
  private String authorization = "";

  ScriptedServer(Path folder, boolean requireTokens) throws IOException, InterruptedException {
    this(StoreAddress.of(folder.resolve("kbx.db")), folder, requireTokens);
  }

  /**
   * @param scratch folder for files of requests
   */
  ScriptedServer(StoreAddress address, Path scratch, boolean requireTokens)
      throws IOException, InterruptedException {
    store = RunStore.open(address);
    reads = RunStore.open(address);
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
            1_000,
            scratch);
    contract = new Contract(http.send(to("/openapi.yaml").build(), text()).body());
  }

  String url() {
    return server.url();
  }

  /** Ends all waits, as before the server is stopped; it still answers. */
  void drain() throws InterruptedException {
    server.drain(Duration.ofMillis(1));
  }

  Routes routes() {
    return server.routes();
  }

  /** A token with these scopes. */
  String token(String name, String... scopes) {
    return new Tokens(store.service()).create(name, List.of(scopes)).orElseThrow();
  }

  /** Who asks from now on; nobody with an empty token. */
  ScriptedServer as(String token) {
    authorization = token.isEmpty() ? "" : "Bearer " + token;
    return this;
  }

  HttpRequest.Builder to(String path) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + path));
    return authorization.isEmpty() ? request : request.header("Authorization", authorization);
  }

  private static HttpResponse.BodyHandler<String> text() {
    return HttpResponse.BodyHandlers.ofString();
  }

  HttpResponse<String> send(HttpRequest.Builder builder) throws IOException, InterruptedException {
    HttpRequest request = builder.build();
    HttpResponse<String> response = http.send(request, text());
    contract.check(request, response).ifPresent(asked::add);
    return response;
  }

  HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return send(to(path));
  }

  HttpResponse<String> post(String path, String type, String body)
      throws IOException, InterruptedException {
    return send(
        to(path).header("Content-Type", type).POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  /** Submits one kernel for {@code Activation/relu}. */
  HttpResponse<String> submit(String query, String code) throws IOException, InterruptedException {
    Map<String, String> candidate = Map.of("task", "Activation/relu", "code", code);
    return post(
        "/v1/judgements" + query, "application/json", Json.mapper().writeValueAsString(candidate));
  }

  static JsonNode json(HttpResponse<String> response) {
    return Json.mapper().readTree(response.body());
  }

  @Override
  public void close() {
    referee.permits.release(1_000_000);
    stop();
  }

  /** Ends while what it judges has no verdict. */
  void stop() {
    server.close();
    assertThat(reads.flaws()).isEmpty();
    reads.close();
    store.close();
    http.close();
  }
}
