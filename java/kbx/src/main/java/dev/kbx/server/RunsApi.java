package dev.kbx.server;

import dev.kbx.dashboard.Boards;
import dev.kbx.dashboard.Boards.Ranked;
import dev.kbx.judge.WorkQueue.Count;
import dev.kbx.stats.Rate;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.Stored;
import dev.kbx.store.VerdictQueries.RunCounts;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.RunLabel;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.sse.SseEvent;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.sse.SseSink;
import java.time.Instant;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code /v1/runs}, {@code /v1/candidates} and {@code /v1/leaderboard}. */
final class RunsApi implements HttpService {
  /** Streams at a time; each has a thread and buffers. */
  private static final int MOST_STREAMS = 1_000;

  /** Bytes of a name and a note in JSON, however escaped. */
  private static final int MOST_LABEL = 32 << 10;

  private static final HeaderName LAST_EVENT = HeaderNames.create("Last-Event-ID");
  private static final long BEAT_SECONDS = 15;

  private final Access access;
  private final RunStore runs;
  private final ServiceStore store;
  private final JudgingService judging;
  private final Feeds feeds;
  private final Boards boards;
  private final Interrupts interrupts;
  private final Bodies bodies;
  private final Semaphore streams = new Semaphore(MOST_STREAMS);

  RunsApi(
      Access access,
      RunStore runs,
      JudgingService judging,
      Feeds feeds,
      Boards boards,
      Interrupts interrupts,
      Bodies bodies) {
    this.access = access;
    this.runs = runs;
    this.store = runs.service();
    this.judging = judging;
    this.feeds = feeds;
    this.boards = boards;
    this.interrupts = interrupts;
    this.bodies = bodies;
  }

  @Override
  public void routing(HttpRules rules) {
    rules
        .get("/v1/runs", this::list)
        .get("/v1/runs/{id}", this::get)
        .patch("/v1/runs/{id}", this::label)
        .get("/v1/runs/{id}/verdicts", this::verdicts)
        .get("/v1/runs/{id}/events", this::events)
        .get("/v1/candidates/{sha256}", this::candidate)
        .get("/v1/leaderboard", this::leaderboard);
  }

  private void list(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    int limit = Answers.limit(request);
    String cursor = Answers.query(request, "cursor").orElse("");
    List<RunInfo> all = runs.runs();
    int from = 0;
    while (!cursor.isEmpty() && from < all.size() && !all.get(from++).id().equals(cursor)) {
      // The page begins after it.
    }
    List<RunInfo> page = all.subList(from, Math.min(all.size(), from + limit));
    ObjectNode body = Json.mapper().createObjectNode();
    body.set("runs", Json.mapper().valueToTree(page));
    if (from + limit < all.size()) body.put("next", page.getLast().id());
    Answers.json(response, 200, body);
  }

  private RunInfo run(ServerRequest request) {
    String id = request.path().pathParameters().get("id");
    return runs.run(id).orElseThrow(() -> unknown(id));
  }

  private void get(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    RunInfo run = run(request);
    ObjectNode body = Json.mapper().valueToTree(run);
    RunCounts counts =
        runs.queries().counts(List.of(run.id())).getOrDefault(run.id(), RunCounts.NONE);
    Count open = judging.backlog().queue().ofGroup(run.id());
    body.put("verdicts", counts.verdicts());
    body.put("queued", open.waiting());
    body.put("judging", open.leased());
    ObjectNode statuses = body.putObject("statuses");
    counts.statuses().forEach((status, count) -> statuses.put(status.label(), count));
    if (counts.judged() > 0) body.set("correct", rate(counts.correct(), counts.judged()));
    Answers.json(response, 200, body);
  }

  private void label(ServerRequest request, ServerResponse response) {
    Client client = access.require(request, Client.Scope.SUBMIT);
    String type = request.headers().contentType().map(each -> each.mediaType().text()).orElse("");
    if (!type.equals("application/json")) {
      throw Refusal.of(415, "Content-Type '%s': send application/json".formatted(Plans.cut(type)));
    }
    RunInfo run = run(request);
    RunLabel label =
        bodies.inMemory(
            request, MOST_LABEL, body -> label(run.label(), SubmissionReader.parse(body)));
    if (!runs.label(run.id(), label)) throw unknown(run.id());
    store.audit(new ServiceStore.Audit(Instant.now(), client.name(), "label run", run.id()));
    Answers.json(response, 200, Json.mapper().valueToTree(run.labelled(label)));
  }

  /** The label with the members of a body, of which an absent one changes nothing. */
  private static RunLabel label(RunLabel known, JsonNode body) {
    for (String member : body.propertyNames()) {
      if (member.equals("name") || member.equals("note")) continue;
      throw Refusal.unusable("/" + member, "%s: is unknown".formatted(Plans.cut(member)));
    }
    RunLabel named = checked(body, "name", known, text -> new RunLabel(text, known.note()));
    return checked(body, "note", named, text -> new RunLabel(named.name(), text));
  }

  private static RunLabel checked(
      JsonNode body, String name, RunLabel known, Function<@Nullable String, RunLabel> changed) {
    JsonNode text = body.get(name);
    if (text == null) return known;
    if (text.isNull()) return changed.apply(null);
    if (!text.isString()) throw Refusal.unusable("/" + name, name + ": must be a string");
    try {
      return changed.apply(text.stringValue());
    } catch (IllegalArgumentException e) {
      throw Refusal.unusable("/" + name, "%s: %s".formatted(name, e.getMessage()));
    }
  }

  private static Refusal unknown(String id) {
    return Refusal.of(404, "no run '%s'".formatted(Plans.cut(id)));
  }

  private static ObjectNode rate(int count, int of) {
    Rate rate = new Rate(count, of);
    return Json.mapper()
        .createObjectNode()
        .put("count", count)
        .put("of", of)
        .put("rate", rate.value())
        .put("low", rate.low())
        .put("high", rate.high());
  }

  private void verdicts(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    RunInfo run = run(request);
    int limit = Answers.limit(request);
    int from = Answers.number(request, "cursor", 0, 0, Integer.MAX_VALUE);
    List<Stored> page =
        store.verdicts(
            run.id(),
            Answers.query(request, "status").orElse(null),
            Answers.query(request, "task").orElse(null),
            from,
            limit);
    ObjectNode body = Answers.lines("verdicts", page.stream().map(Stored::json).toList());
    if (page.size() == limit) body.put("next", Integer.toString(page.getLast().position() + 1));
    Answers.json(response, 200, body);
  }

  private void candidate(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    String hash = request.path().pathParameters().get("sha256");
    String code =
        runs.source(hash)
            .orElseThrow(() -> Refusal.of(404, "no candidate '%s'".formatted(Plans.cut(hash))));
    Answers.json(
        response, 200, Json.mapper().createObjectNode().put("candidate", hash).put("code", code));
  }

  private void leaderboard(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    String suite = Answers.query(request, "suite").orElse("");
    String grade = Answers.choice(request, "grade", "published", "published", "general");
    String device = Answers.query(request, "device").orElse("");
    Ranked ranked =
        boards
            .find(suite, grade, device)
            .map(boards::ranked)
            .orElseThrow(
                () -> Refusal.of(404, "no verdicts of that suite and device at grade " + grade));
    ObjectNode body = Json.mapper().createObjectNode();
    body.put("suite", ranked.board().suite());
    body.put("grade", grade);
    body.put("device", ranked.board().device());
    body.setAll((ObjectNode) Json.mapper().valueToTree(ranked.ranks()));
    Answers.json(response, 200, body);
  }

  private void events(ServerRequest request, ServerResponse response) throws InterruptedException {
    Client _ = access.require(request, Client.Scope.READ);
    RunInfo run = run(request);
    boolean follow = Answers.flag(request, "follow");
    SentPositions sent = SentPositions.parse(request.headers().first(LAST_EVENT).orElse(""));
    response.header(HeaderNames.CONTENT_TYPE, "text/event-stream");
    if (Heads.sent(response)) return;
    if (!streams.tryAcquire()) {
      throw Refusal.laterClosing(503, "too many event streams; try again, or poll the verdicts", 5);
    }
    try (SseSink sink = response.sink(SseSink.TYPE)) {
      stream(sink, run, sent, follow);
    } catch (java.io.UncheckedIOException e) {
      // The client has gone.
    } finally {
      streams.release();
    }
  }

  private void stream(SseSink sink, RunInfo run, SentPositions sent, boolean follow)
      throws InterruptedException {
    long version = feeds.state(run.id(), Long.MAX_VALUE).version();
    while (true) {
      Feeds.State state = feeds.state(run.id(), version);
      state.replaced().forEach(sent::remove);
      version = state.version();
      Count open =
          judging
              .backlog()
              .queue()
              .ofGroup(run.id()); // Before the verdicts: none is missed at the end.
      List<Integer> fresh = sent.missing(store.positions(run.id(), sent.firstMissing()));
      for (int i = 0; i < fresh.size(); i += 100) {
        List<Integer> part = fresh.subList(i, Math.min(fresh.size(), i + 100));
        for (Stored each : store.verdicts(run.id(), part)) {
          sent.add(each.position());
          emit(sink, "verdict", sent.toString(), each.json());
        }
      }
      String progress =
          "{\"judged\":%d,\"queued\":%d,\"judging\":%d}"
              .formatted(sent.count(), open.waiting(), open.leased());
      emit(sink, "progress", sent.toString(), progress);
      boolean idle = open.open() == 0;
      if (!judging.ready() || (idle && !follow)) {
        emit(sink, "end", sent.toString(), progress);
        return;
      }
      feeds.await(run.id(), version, TimeUnit.SECONDS.toNanos(BEAT_SECONDS));
      TimeUnit.MILLISECONDS.sleep(100); // Verdicts come together in one read of the store.
    }
  }

  private void emit(SseSink sink, String name, String id, String data) {
    SseEvent event = SseEvent.builder().id(id).name(name).data(data).build();
    interrupts.within(() -> sink.emit(event));
  }

  /**
   * Positions that a stream of events has sent: {@code 17} are all up to 17, {@code 17-3,5} the
   * same without 3 and 5.
   */
  private static final class SentPositions {
    private static final Pattern ID = Pattern.compile("\\d{1,8}(-\\d{1,8}(,\\d{1,8})*)?");

    private final BitSet positions = new BitSet();

    static SentPositions parse(String id) {
      SentPositions sent = new SentPositions();
      if (id.isEmpty()) return sent;
      if (!ID.matcher(id).matches()) {
        throw Refusal.of(400, "Last-Event-ID: is not the id of an event of this stream");
      }
      String[] parts = id.split("[-,]", -1);
      sent.positions.set(0, Integer.parseInt(parts[0]) + 1);
      for (int i = 1; i < parts.length; i++) sent.positions.clear(Integer.parseInt(parts[i]));
      return sent;
    }

    void add(int position) {
      positions.set(position);
    }

    /** Removes a verdict for which there is another now. */
    void remove(int position) {
      positions.clear(position);
    }

    /** The first position that was not sent. */
    int firstMissing() {
      return positions.nextClearBit(0);
    }

    int count() {
      return positions.cardinality();
    }

    List<Integer> missing(List<Integer> all) {
      return all.stream().filter(position -> !positions.get(position)).toList();
    }

    @Override
    public String toString() {
      if (positions.isEmpty()) return "";
      int last = positions.length() - 1;
      StringBuilder id = new StringBuilder().append(last);
      char separator = '-';
      for (int i = positions.nextClearBit(0); i < last; i = positions.nextClearBit(i + 1)) {
        id.append(separator).append(i);
        separator = ',';
      }
      return id.toString();
    }
  }
}
