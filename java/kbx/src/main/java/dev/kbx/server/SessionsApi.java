package dev.kbx.server;

import dev.kbx.store.RunStore;
import dev.kbx.store.Session;
import dev.kbx.store.Submission;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code /v1/sessions}. */
final class SessionsApi implements HttpService {
  private static final double MOST_WAIT = 60;

  private final Access access;
  private final Sessions sessions;
  private final SessionReader reader;
  private final SessionView view;
  private final Bodies bodies;

  SessionsApi(
      Access access,
      JudgingService judging,
      RunStore store,
      RunStore reads,
      Machine machine,
      Bodies bodies) {
    this.access = access;
    this.sessions = new Sessions(judging, store, reads, machine);
    this.reader = new SessionReader(machine);
    this.view = new SessionView(sessions, judging, reads, machine);
    this.bodies = bodies;
  }

  @Override
  public void routing(HttpRules rules) {
    rules
        .post("/v1/sessions", this::begin)
        .get("/v1/sessions/{id}", this::get)
        .delete("/v1/sessions/{id}", this::close)
        .post("/v1/sessions/{id}/turns", this::turn)
        .post("/v1/sessions/{id}/final", this::finish);
  }

  private static String id(ServerRequest request) {
    return request.path().pathParameters().get("id");
  }

  private static Duration wait(ServerRequest request) {
    return Duration.ofNanos((long) (Answers.seconds(request, "wait", MOST_WAIT) * 1e9));
  }

  private JsonNode body(ServerRequest request) {
    String type = request.headers().contentType().map(each -> each.mediaType().text()).orElse("");
    if (!type.equals("application/json")) {
      throw Refusal.of(415, "Content-Type '%s': send application/json".formatted(Plans.cut(type)));
    }
    return bodies.inMemory(request, Bodies.MOST_JSON, SubmissionReader::parse);
  }

  private void begin(ServerRequest request, ServerResponse response) {
    Client client = access.require(request, Client.Scope.SUBMIT);
    Session session = sessions.begin(client, reader.asked(body(request)));
    Answers.json(response, 201, view.of(session, true));
  }

  private void get(ServerRequest request, ServerResponse response) throws InterruptedException {
    Client _ = access.require(request, Client.Scope.READ);
    Duration wait = wait(request);
    Session session = sessions.find(id(request));
    sessions.await(session, wait);
    Answers.json(response, 200, view.of(sessions.find(session.id()), true));
  }

  private void close(ServerRequest request, ServerResponse response) {
    Client client = access.require(request, Client.Scope.SUBMIT);
    Answers.json(response, 200, view.of(sessions.close(client, id(request)), false));
  }

  private void turn(ServerRequest request, ServerResponse response) throws InterruptedException {
    Client client = access.require(request, Client.Scope.SUBMIT);
    Duration wait = wait(request);
    JsonNode body = body(request);
    String code =
        SubmissionReader.source(body, "code", "")
            .orElseThrow(() -> Refusal.unusable("/code", "code: is missing, or no string"));
    Optional<String> key = SubmissionReader.word(body, "key", "");
    Submission turn = sessions.turn(client, id(request), code, key.orElse(null));
    sessions.await(turn, wait);
    answer(response, view.turn(sessions.find(id(request)), turn));
  }

  private void finish(ServerRequest request, ServerResponse response) throws InterruptedException {
    Client client = access.require(request, Client.Scope.SUBMIT);
    Duration wait = wait(request);
    Session session = sessions.finish(client, id(request), chosen(body(request)));
    sessions.await(session, wait);
    answer(response, (ObjectNode) view.of(session, false).path("final"));
  }

  private static @Nullable Integer chosen(JsonNode body) {
    JsonNode turn = body.get("turn");
    if (turn == null || turn.isNull()) return null;
    if (turn.isInt() && turn.intValue() >= 0) return turn.intValue();
    throw Refusal.unusable("/turn", "turn: must be a whole number, 0 or more");
  }

  private static void answer(ServerResponse response, ObjectNode node) {
    Answers.json(response, node.path("state").asString().equals("judging") ? 202 : 200, node);
  }
}
