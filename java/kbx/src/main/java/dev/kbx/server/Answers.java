package dev.kbx.server;

import dev.kbx.verdict.Json;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/** Requests' parameters, and answers in JSON. */
final class Answers {
  private static final int MOST_LISTED = 1_000;
  private static final int LISTED = 100;

  private Answers() {}

  static void json(ServerResponse response, int status, Object value) {
    byte[] body = Json.mapper().writeValueAsBytes(value);
    response.status(Status.create(status)).header(HeaderNames.CONTENT_TYPE, "application/json");
    Heads.send(response, body);
  }

  static void problem(ServerResponse response, Refusal refusal) {
    Map<String, Object> body = new LinkedHashMap<>();
    Status status = Status.create(refusal.status());
    body.put("type", "about:blank");
    body.put("title", status.reasonPhrase());
    body.put("status", refusal.status());
    body.put("detail", String.valueOf(refusal.getMessage()));
    if (refusal.pointer() != null) body.put("pointer", refusal.pointer());
    if (!refusal.problems().isEmpty()) body.put("problems", refusal.problems());
    head(response, refusal);
    response.header(HeaderNames.CONTENT_TYPE, "application/problem+json");
    Heads.send(response, Json.mapper().writeValueAsBytes(body));
  }

  /** Status and headers of a refusal, whose body may be a page. */
  static void head(ServerResponse response, Refusal refusal) {
    response.status(Status.create(refusal.status()));
    if (refusal.retrySeconds() > 0) {
      response.header(HeaderNames.RETRY_AFTER, Integer.toString(refusal.retrySeconds()));
    }
    if (!refusal.allowed().isEmpty()) {
      response.header(HeaderNames.ALLOW, String.join(", ", refusal.allowed()));
    }
    if (refusal.closing()) response.header(HeaderNames.CONNECTION, "close");
    if (refusal.status() == 401) response.header(HeaderNames.WWW_AUTHENTICATE, "Bearer");
  }

  /** An object with a list of objects that are JSON already. */
  static ObjectNode lines(String name, List<String> lines) {
    ObjectNode node = Json.mapper().createObjectNode();
    var list = node.putArray(name);
    lines.forEach(line -> list.addRawValue(new RawValue(line)));
    return node;
  }

  static Optional<String> query(ServerRequest request, String name) {
    return given(request, name).filter(text -> !text.isEmpty());
  }

  /** The text of a parameter, which may be empty; refused if the parameter is given twice. */
  private static Optional<String> given(ServerRequest request, String name) {
    if (!request.query().contains(name)) return Optional.empty();
    List<String> all = request.query().all(name);
    if (all.size() > 1) throw Refusal.of(400, name + ": is given more than once");
    return Optional.of(all.getFirst());
  }

  static boolean flag(ServerRequest request, String name) {
    return switch (given(request, name).orElse("false")) {
      case "true" -> true;
      case "false" -> false;
      default -> throw Refusal.of(400, name + ": must be true or false");
    };
  }

  static int number(ServerRequest request, String name, int usual, int least, int most) {
    Optional<String> given = given(request, name);
    if (given.isEmpty()) return usual;
    try {
      int number = Integer.parseInt(given.get());
      if (number >= least && number <= most) return number;
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw Refusal.of(400, "%s: must be a whole number from %d to %d".formatted(name, least, most));
  }

  static double seconds(ServerRequest request, String name, double most) {
    Optional<String> given = given(request, name);
    if (given.isEmpty()) return 0;
    try {
      double number = Double.parseDouble(given.get());
      if (number >= 0 && number <= most) return number;
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw Refusal.of(400, "%s: must be a number from 0 to %.0f".formatted(name, most));
  }

  static String choice(ServerRequest request, String name, String usual, String... known) {
    String given = given(request, name).orElse(usual);
    if (List.of(known).contains(given)) return given;
    throw Refusal.of(400, "%s: must be %s".formatted(name, String.join(" or ", known)));
  }

  static int limit(ServerRequest request) {
    return number(request, "limit", LISTED, 1, MOST_LISTED);
  }
}
