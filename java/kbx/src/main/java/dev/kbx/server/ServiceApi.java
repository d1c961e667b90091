package dev.kbx.server;

import dev.kbx.judge.JudgingDevice;
import dev.kbx.judge.WorkQueue.Count;
import dev.kbx.verdict.Json;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.TreeMap;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code /v1/devices}, {@code /v1/queue}, {@code /v1/version} and {@code /metrics}. */
final class ServiceApi implements HttpService {
  private final Access access;
  private final Machine machine;
  private final JudgingService judging;
  private final ServiceMetrics figures;

  ServiceApi(Access access, Machine machine, JudgingService judging, ServiceMetrics figures) {
    this.access = access;
    this.machine = machine;
    this.judging = judging;
    this.figures = figures;
  }

  @Override
  public void routing(HttpRules rules) {
    rules
        .get("/v1/devices", this::devices)
        .get("/v1/queue", this::queue)
        .get("/v1/version", this::version)
        .get("/metrics", this::metrics);
  }

  private void devices(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    ObjectNode body = Json.mapper().createObjectNode();
    ArrayNode devices = body.putArray("devices");
    for (JudgingDevice each : machine.devices()) devices.add(each.json());
    body.put("capacity", machine.referee().capacity())
        .put("judging", judging.backlog().queue().count().leased());
    Answers.json(response, 200, body);
  }

  private void queue(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    Backlog backlog = judging.backlog();
    Count all = backlog.queue().count();
    ObjectNode body = Json.mapper().createObjectNode();
    body.put("queued", all.waiting());
    body.put("judging", all.leased());
    body.put("limit", judging.limit());
    if (backlog.held() > 0) body.put("held", backlog.held());
    if (all.waiting() > 0) body.put("oldest_seconds", backlog.oldestSeconds());
    ArrayNode clients = body.putArray("clients");
    new TreeMap<>(backlog.queue().byOwner())
        .forEach((name, count) ->
            clients
                .addObject()
                .put("client", name)
                .put("queued", count.waiting())
                .put("judging", count.leased()));
    Answers.json(response, 200, body);
  }

  private void version(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    ObjectNode body = Json.mapper().createObjectNode();
    body.put("kbx", machine.versions().getOrDefault("kbx", "unknown"));
    body.set("versions", Json.mapper().valueToTree(machine.versions()));
    Answers.json(response, 200, body);
  }

  private void metrics(ServerRequest request, ServerResponse response) {
    // They are needed most when the store is away.
    boolean up = judging.store().missing().isEmpty();
    Client _ =
        up
            ? access.require(request, Client.Scope.READ)
            : access.requireKnown(request, Client.Scope.READ);
    response.header(HeaderNames.CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
    Heads.send(response, figures.text());
  }
}
