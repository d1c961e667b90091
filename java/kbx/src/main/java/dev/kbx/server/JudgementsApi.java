package dev.kbx.server;

import dev.kbx.files.Folders;
import dev.kbx.plan.Plan;
import dev.kbx.server.SubmissionReader.Read;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.Submission;
import dev.kbx.task.Suite;
import dev.kbx.verdict.Json;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code /v1/judgements} and {@code /v1/uploads}. */
final class JudgementsApi implements HttpService {
  private static final System.Logger LOG = System.getLogger("dev.kbx.server");

  private static final double MOST_WAIT = 60;
  private static final int MOST_IDS = 1_000;
  private static final int MOST_DEADLINE = 604_800;

  /**
   * Bodies that are parsed and stored at a time. The others wait for it here: if all of them were
   * to run, whoever opens a page would wait behind them for a processor.
   */
  private static final int AT_A_TIME = Math.max(4, 2 * Runtime.getRuntime().availableProcessors());

  private final Access access;
  private final JudgingService judging;
  private final ServiceStore store;
  private final JudgementView view;
  private final SubmissionReader reader;
  private final Machine machine;
  private final Scratch scratch;
  private final Bodies bodies;
  private final Semaphore turns = new Semaphore(AT_A_TIME, true);

  JudgementsApi(
      Access access,
      JudgingService judging,
      ServiceStore store,
      Machine machine,
      Scratch scratch,
      Bodies bodies) {
    this.access = access;
    this.judging = judging;
    this.store = store;
    this.view = new JudgementView(judging, store);
    this.machine = machine;
    this.reader = new SubmissionReader(machine);
    this.scratch = scratch;
    this.bodies = bodies;
  }

  @Override
  public void routing(HttpRules rules) {
    rules
        .post("/v1/judgements", this::submit)
        .get("/v1/judgements", this::list)
        .get("/v1/judgements/{id}", this::get)
        .delete("/v1/judgements/{id}", this::cancel)
        .post("/v1/uploads", this::upload);
  }

  private void submit(ServerRequest request, ServerResponse response) throws InterruptedException {
    Client client = access.require(request, Client.Scope.SUBMIT);
    switch (type(request)) {
      case "application/json" -> {
        double wait = wait(request);
        List<Submission> accepted =
            bodies.inMemory(
                request, Bodies.MOST_JSON, body -> inTurn(() -> json(client, request, body)));
        answer(response, wait, accepted, List.of());
      }
      case "application/x-ndjson", "application/jsonl" ->
          file(client, request, response, "predictions.jsonl");
      case String other ->
          throw Refusal.of(
              415,
              "Content-Type '%s': send application/json or application/x-ndjson"
                  .formatted(Plans.cut(other)));
    }
  }

  private <T> T inTurn(Supplier<T> work) {
    turns.acquireUninterruptibly();
    try {
      return work.get();
    } finally {
      turns.release();
    }
  }

  private static String type(ServerRequest request) {
    return request.headers().contentType().map(type -> type.mediaType().text()).orElse("");
  }

  private static double wait(ServerRequest request) {
    return Answers.seconds(request, "wait", MOST_WAIT);
  }

  private List<Submission> json(Client client, ServerRequest request, byte[] bytes) {
    JsonNode body = SubmissionReader.parse(bytes);
    Plan plan = Plans.of(body.get("plan"), machine.secret());
    String run =
        SubmissionReader.run(text(body.get("run")).or(() -> Answers.query(request, "run")));
    int priority = whole(body, "priority", -10, 10).orElse(0);
    Instant deadline = deadline(whole(body, "deadline_seconds", 1, MOST_DEADLINE).orElse(0));
    Read read = reader.ofJson(body);
    return judging.accept(
        new Acceptance.Order(client.name(), run, plan, priority, deadline), read.wanted());
  }

  private static Optional<String> text(@Nullable JsonNode given) {
    if (given == null || given.isNull()) return Optional.empty();
    if (given.isString()) return Optional.of(given.stringValue());
    throw Refusal.unusable("/run", "run: must be a string");
  }

  private static Optional<Integer> whole(JsonNode body, String name, int least, int most) {
    JsonNode given = body.get(name);
    if (given == null || given.isNull()) return Optional.empty();
    if (given.isInt() && given.intValue() >= least && given.intValue() <= most) {
      return Optional.of(given.intValue());
    }
    throw Refusal.unusable(
        "/" + name, "%s: must be a whole number from %d to %d".formatted(name, least, most));
  }

  private static @Nullable Instant deadline(int seconds) {
    return seconds == 0 ? null : Instant.now().plusSeconds(seconds);
  }

  private void upload(ServerRequest request, ServerResponse response) throws InterruptedException {
    Client client = access.require(request, Client.Scope.SUBMIT);
    switch (type(request)) {
      case "application/zip", "application/x-tar", "application/gzip", "application/x-gzip" ->
          file(client, request, response, "archive");
      case String other ->
          throw Refusal.of(
              415,
              "Content-Type '%s': send application/zip, application/x-tar or application/gzip"
                  .formatted(Plans.cut(other)));
    }
  }

  private void file(Client client, ServerRequest request, ServerResponse response, String name)
      throws InterruptedException {
    double wait = wait(request);
    boolean skip = Answers.flag(request, "skip");
    Plan plan = Plans.of(null, machine.secret());
    String run = SubmissionReader.run(Answers.query(request, "run"));
    int priority = Answers.number(request, "priority", 0, -10, 10);
    Instant deadline = deadline(Answers.number(request, "deadline_seconds", 0, 1, MOST_DEADLINE));
    Suite suite = reader.suite(Answers.query(request, "suite").orElse(null), "");
    try {
      Path folder = scratch.makeFolder();
      List<Submission> accepted;
      Read read;
      try {
        Path file = folder.resolve(name);
        bodies.toFile(request, file);
        Path source = file;
        if (name.equals("archive")) {
          source = Files.createDirectory(folder.resolve("files"));
          Archive.unpack(file, source);
        }
        read = reader.ofFiles(source, folder, suite, skip);
        accepted =
            judging.accept(
                new Acceptance.Order(client.name(), run, plan, priority, deadline), read.wanted());
      } finally {
        Folders.delete(folder);
      }
      answer(response, wait, accepted, read.problems());
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "an upload cannot be kept: {0}", e.toString());
      throw Refusal.later(503, "the server cannot keep files now; try again", 5);
    }
  }

  private void answer(
      ServerResponse response, double wait, List<Submission> accepted, List<String> problems)
      throws InterruptedException {
    List<Submission> now = after(wait, accepted);
    boolean done = now.stream().noneMatch(each -> each.state() == Submission.State.QUEUED);
    ObjectNode body = Json.mapper().createObjectNode();
    body.set("judgements", view.of(now));
    body.put("run", now.getFirst().run());
    if (!problems.isEmpty()) problems.forEach(body.putArray("problems")::add);
    Answers.json(response, done ? 200 : 202, body);
  }

  private List<Submission> after(double wait, List<Submission> some) throws InterruptedException {
    if (wait > 0) {
      judging.await(
          some.stream().map(Submission::id).toList(), Duration.ofNanos((long) (wait * 1e9)));
    }
    return view.now(some);
  }

  private List<Submission> afterAny(double wait, List<Submission> some)
      throws InterruptedException {
    if (wait > 0) {
      judging.awaitAny(
          some.stream().map(Submission::id).toList(), Duration.ofNanos((long) (wait * 1e9)));
    }
    return view.now(some);
  }

  private Submission find(String id) {
    return view.find(id)
        .orElseThrow(() -> Refusal.of(404, "no judgement '%s'".formatted(Plans.cut(id))));
  }

  private static String id(ServerRequest request) {
    return request.path().pathParameters().get("id");
  }

  private void get(ServerRequest request, ServerResponse response) throws InterruptedException {
    Client _ = access.require(request, Client.Scope.READ);
    double wait = wait(request);
    Answers.json(response, 200, view.of(after(wait, List.of(find(id(request))))).get(0));
  }

  private void cancel(ServerRequest request, ServerResponse response) {
    Client client = access.require(request, Client.Scope.SUBMIT);
    Submission found = find(id(request));
    if (!found.client().equals(client.name()) && !client.may(Client.Scope.ADMIN)) {
      throw Refusal.of(403, "it is another client's; only the scope admin cancels those");
    }
    Submission end = judging.cancel(found);
    store.audit(new ServiceStore.Audit(Instant.now(), client.name(), "cancel", end.id()));
    Answers.json(response, 200, view.of(List.of(end)).get(0));
  }

  private void list(ServerRequest request, ServerResponse response) throws InterruptedException {
    Client _ = access.require(request, Client.Scope.READ);
    Optional<String> ids = Answers.query(request, "ids");
    double wait = wait(request);
    if (ids.isPresent()) {
      ObjectNode body = Json.mapper().createObjectNode();
      boolean any = Answers.choice(request, "until", "all", "all", "any").equals("any");
      List<Submission> some = named(ids.get());
      body.set("judgements", view.of(any ? afterAny(wait, some) : after(wait, some)));
      Answers.json(response, 200, body);
      return;
    }
    int limit = Answers.limit(request);
    Optional<String> state = Answers.query(request, "state");
    List<Submission> page =
        store.submissions(
            Answers.query(request, "run").orElse(null),
            state.map(JudgementsApi::state).orElse(null),
            Answers.query(request, "cursor").orElse(null),
            limit);
    ObjectNode body = Json.mapper().createObjectNode();
    ArrayNode shown = view.of(view.now(page));
    // Of those that wait the store does not know which are being judged.
    state.ifPresent(asked -> shown.removeIf(each -> !each.path("state").asString().equals(asked)));
    body.set("judgements", shown);
    if (page.size() == limit) body.put("next", page.getLast().id());
    Answers.json(response, 200, body);
  }

  private List<Submission> named(String ids) {
    List<String> wanted = Arrays.asList(ids.split(",", -1));
    if (wanted.size() > MOST_IDS) throw Refusal.of(400, "ids: at most 1000 at a time");
    Map<String, Submission> found =
        store.submissions(wanted.stream().distinct().toList()).stream()
            .collect(Collectors.toMap(Submission::id, Function.identity()));
    for (String id : wanted) {
      if (!found.containsKey(id))
        throw Refusal.of(404, "no judgement '%s'".formatted(Plans.cut(id)));
    }
    return wanted.stream().map(found::get).toList();
  }

  private static Submission.State state(String label) {
    if (label.equals("judging")) return Submission.State.QUEUED;
    return Arrays.stream(Submission.State.values())
        .filter(state -> state.name().toLowerCase(Locale.ROOT).equals(label))
        .findFirst()
        .orElseThrow(() ->
            Refusal.of(
                400, "state: must be one of queued, judging, done, cancelled, expired, failed"));
  }
}
