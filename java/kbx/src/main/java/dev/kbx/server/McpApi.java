package dev.kbx.server;

import dev.kbx.error.InputException;
import dev.kbx.mcp.McpEndpoint;
import dev.kbx.store.RunStore;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * {@code /mcp}: the Model Context Protocol by streamable HTTP, without sessions and streams. Each
 * message is a request of its own with the token of its client.
 */
final class McpApi implements HttpService {
  private static final HeaderName VERSION = HeaderNames.create("MCP-Protocol-Version");

  private final McpEndpoint endpoint = new McpEndpoint();
  private final Access access;
  private final JudgingService judging;
  private final RunStore reads;
  private final Machine machine;
  private final Bodies bodies;

  McpApi(Access access, JudgingService judging, RunStore reads, Machine machine, Bodies bodies) {
    this.access = access;
    this.judging = judging;
    this.reads = reads;
    this.machine = machine;
    this.bodies = bodies;
  }

  @Override
  public void routing(HttpRules rules) {
    rules.post("/mcp", this::message);
  }

  private void message(ServerRequest request, ServerResponse response) {
    Client client = access.identified(request);
    request
        .headers()
        .first(VERSION)
        .filter(version -> !endpoint.versions().contains(version))
        .ifPresent(version -> {
          throw Refusal.of(
              400,
              "MCP-Protocol-Version %s: must be one of %s"
                  .formatted(Plans.cut(version), String.join(", ", endpoint.versions())));
        });
    String message =
        bodies.inMemory(
            request, Bodies.MOST_JSON, body -> new String(body, StandardCharsets.UTF_8));
    ClientToolBackend backend = new ClientToolBackend(client, judging, reads, machine);
    Optional<String> answer;
    try {
      answer = endpoint.answer(message, backend, null);
    } catch (InputException e) {
      throw Refusal.of(400, String.valueOf(e.getMessage()));
    }
    if (answer.isEmpty()) response.status(Status.ACCEPTED_202);
    else response.header(HeaderNames.CONTENT_TYPE, "application/json");
    Heads.send(response, answer.orElse(""));
  }
}
