package dev.kbx.server;

import dev.kbx.verdict.Json;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

/** {@code /health/live}: whether the process answers; {@code /health/ready}: whether it accepts. */
final class Health implements HttpService {
  private final JudgingService judging;

  Health(JudgingService judging) {
    this.judging = judging;
  }

  @Override
  public void routing(HttpRules rules) {
    rules.get("/health/live", Health::live).get("/health/ready", this::ready);
  }

  private static void live(ServerRequest request, ServerResponse response) {
    up(response);
  }

  private void ready(ServerRequest request, ServerResponse response) {
    if (judging.claimLost()) throw Refusal.claimLost();
    if (!judging.ready()) throw Refusal.later(503, "the server is being stopped", 5);
    up(response);
  }

  private static void up(ServerResponse response) {
    Answers.json(response, 200, Json.mapper().createObjectNode().put("status", "up"));
  }
}
