package dev.kbx.server;

import dev.kbx.verdict.Json;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * {@code /health/live}: whether the process works; {@code /health/ready}: whether all is there that
 * accepting and judging takes.
 */
final class Health implements HttpService {
  private static final int RETRY_SECONDS = 5;

  private final List<Condition> life;
  private final List<Condition> readiness;

  /** Something that must hold. Answers soon, whatever it is about. */
  interface Condition {
    /** What is missing, in words; empty if it holds. */
    Optional<String> missing();
  }

  /**
   * @param life without which only a new start helps
   * @param readiness all that is needed
   */
  Health(List<Condition> life, List<Condition> readiness) {
    this.life = List.copyOf(life);
    this.readiness = List.copyOf(readiness);
  }

  @Override
  public void routing(HttpRules rules) {
    rules.get("/health/live", this::live).get("/health/ready", this::ready);
  }

  /** False if only a new start helps. */
  boolean isAlive() {
    return missing(life).isEmpty();
  }

  private void live(ServerRequest request, ServerResponse response) {
    answer(response, life);
  }

  private void ready(ServerRequest request, ServerResponse response) {
    answer(response, readiness);
  }

  private static void answer(ServerResponse response, List<Condition> conditions) {
    String missing = missing(conditions);
    if (!missing.isEmpty()) throw Refusal.later(503, missing, RETRY_SECONDS);
    Answers.json(response, 200, Json.mapper().createObjectNode().put("status", "up"));
  }

  private static String missing(List<Condition> conditions) {
    return conditions.stream()
        .flatMap(each -> each.missing().stream())
        .collect(Collectors.joining("; "));
  }
}
