package dev.kbx.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dev.kbx.Bundled;
import dev.kbx.Patience;
import dev.kbx.TestPostgres;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.app.Ledgers;
import dev.kbx.app.NamedRun;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.SessionRuns;
import dev.kbx.generate.SessionTurn;
import dev.kbx.plan.Inputs;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.MeasuredPeaks;
import dev.kbx.store.RunStore;
import dev.kbx.store.Session;
import dev.kbx.store.StoreAddress;
import dev.kbx.store.Submission;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Sessions over real HTTP and a real store; the referee answers as it is told. */
@Timeout(Patience.SECONDS)
class SessionsTest {
  private static final String JSON = "application/json";

  @TempDir private Path folder;
  private ScriptedServer server;

  @BeforeEach
  void start() throws Exception {
    server = new ScriptedServer(folder, false);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static String json(Object value) {
    return Json.mapper().writeValueAsString(value);
  }

  private JsonNode begin(Map<String, ?> more) throws Exception {
    Map<String, Object> body = new TreeMap<>(more);
    body.putIfAbsent("task", "Activation/relu");
    HttpResponse<String> begun = server.post("/v1/sessions", JSON, json(body));
    assertThat(begun.statusCode()).as(begun.body()).isEqualTo(201);
    return ScriptedServer.json(begun);
  }

  private static String path(JsonNode session) {
    return "/v1/sessions/" + session.path("id").asString();
  }

  private HttpResponse<String> turn(JsonNode session, String query, Map<String, ?> body)
      throws Exception {
    return server.post(path(session) + "/turns" + query, JSON, json(body));
  }

  private JsonNode turn(JsonNode session, String code) throws Exception {
    HttpResponse<String> answer = turn(session, "?wait=30", Map.of("code", code));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return ScriptedServer.json(answer);
  }

  private JsonNode finish(JsonNode session, String body) throws Exception {
    HttpResponse<String> answer = server.post(path(session) + "/final?wait=30", JSON, body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return ScriptedServer.json(answer);
  }

  private void refused(HttpResponse<String> answer, int status, String why) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(ScriptedServer.json(answer).path("detail").asString()).contains(why);
  }

  private static Judgement timed(double low) {
    ObjectNode node = Json.mapper().valueToTree(ScriptedReferee.judgement("correct", true));
    node.put("policy", "kernel").put("stage", "perf");
    node.putObject("speedup")
        .put("value", low + 0.1)
        .put("low", low)
        .put("high", low + 0.2)
        .put("baseline", "eager");
    return Json.mapper().treeToValue(node, Judgement.class);
  }

  @Test
  void turnsAreJudgedOnDevelopmentInputsAndTheAnswerOnHeldOutOnes() throws Exception {
    JsonNode session = begin(Map.of("model", "policy"));
    server.referee.answer = ScriptedReferee.judgement("wrong_values", false, "off by one");
    JsonNode wrong = turn(session, "first = 1");
    assertThat(wrong.path("status").asString()).isEqualTo("wrong_values");
    assertThat(wrong.path("feedback").asString()).contains("off by one");
    assertThat(wrong.at("/verdict/round").asInt(-1)).isZero();
    assertThat(wrong.path("reward").asDouble()).isEqualTo(0.05);
    assertThat(wrong.at("/left/judgements").asInt()).isEqualTo(9);
    server.referee.answer = timed(2);
    assertThat(turn(session, "second = 1").path("reward").asDouble()).isCloseTo(0.7, within(1e-12));
    server.referee.answer = timed(1);
    assertThat(turn(session, "third = 1").path("reward").asDouble()).isEqualTo(0.5);
    JsonNode end = finish(session, "{}");
    assertThat(end.path("turn").asInt()).as("the fastest of the correct ones").isEqualTo(1);
    assertThat(end.path("reward").asDouble()).isEqualTo(0.5);
    assertThat(end.at("/verdict/model").asString()).isEqualTo("policy");
    Map<String, Plan> plans = server.referee.plans;
    Plan development = requireNonNull(plans.get("second = 1 " + Inputs.DEVELOPMENT));
    Plan heldOut = requireNonNull(plans.get("second = 1 " + Inputs.ALL));
    assertThat(server.referee.plans).hasSize(4);
    assertThat(development.secret()).isNotEqualTo(heldOut.secret());
    assertThat(finish(session, "{}")).as("asked again").isEqualTo(end);
    refused(turn(session, "", Map.of("code", "late = 1")), 409, "has its answer");
    refused(server.post(path(session) + "/final", JSON, "{\"turn\":0}"), 409, "another answer");
  }

  @Test
  void thePromptIsThatOfMethods() throws Exception {
    JsonNode session =
        begin(Map.of("conditions", Map.of("shots", "few", "advice", true), "start", "begin = 1"));
    var conditions =
        new dev.kbx.prompt.PromptConditions(
            dev.kbx.prompt.PromptConditions.Shots.FEW,
            false,
            true,
            dev.kbx.prompt.PromptConditions.Language.TRITON,
            dev.kbx.prompt.PromptConditions.FeedbackKind.EXECUTION,
            dev.kbx.prompt.PromptConditions.History.LAST,
            dev.kbx.prompt.PromptConditions.Format.CHAT,
            dev.kbx.plan.Grade.PUBLISHED,
            dev.kbx.task.Policy.KERNEL,
            dev.kbx.plan.ModulePrecision.FP32);
    var writer =
        new dev.kbx.prompt.PromptWriter(
            Bundled.STATEMENT.prompts(), conditions, ScriptedReferee.DEVICE, MeasuredPeaks.NONE);
    var task = Bundled.suite("kernelbenchx").task("Activation/relu").orElseThrow();
    List<String> expected = new ArrayList<>();
    writer.first(task, "begin = 1").forEach(each -> expected.add(each.text()));
    List<String> messages = new ArrayList<>();
    session.path("messages").forEach(each -> messages.add(each.path("content").asString()));
    assertThat(messages).isEqualTo(expected);
  }

  @Test
  void withoutFeedbackATurnTellsItsOutcomeAlone() throws Exception {
    JsonNode session = begin(Map.of("conditions", Map.of("feedback", "none")));
    JsonNode turn = turn(session, "x = 1");
    assertThat(turn.has("feedback") || turn.has("verdict")).isFalse();
    assertThat(turn.path("reward").asDouble()).isPositive();
  }

  @Test
  void aSessionIsSequential() throws Exception {
    server.referee.permits.drainPermits();
    JsonNode session = begin(Map.of());
    HttpResponse<String> first = turn(session, "", Map.of("code", "x = 1", "key", "a"));
    assertThat(first.statusCode()).isEqualTo(202);
    refused(turn(session, "", Map.of("code", "x = 2")), 409, "turn 0 is being judged");
    refused(server.post(path(session) + "/final", JSON, "{}"), 409, "turn 0 is being judged");
    assertThat(turn(session, "", Map.of("code", "x = 1", "key", "a")).statusCode()).isEqualTo(202);
    server.referee.permits.release(1_000);
    HttpResponse<String> again = turn(session, "?wait=30", Map.of("code", "x = 1", "key", "a"));
    assertThat(ScriptedServer.json(again).path("state").asString()).isEqualTo("done");
    refused(turn(session, "", Map.of("code", "x = 3", "key", "a")), 409, "another code");
    assertThat(server.referee.judged).containsExactly("x = 1");
  }

  @Test
  void aTurnThatCouldNotBeJudgedIsSentAgainUnderItsKey() throws Exception {
    JsonNode session = begin(Map.of());
    server.referee.failure = new IllegalStateException("workers are away");
    Map<String, String> body = Map.of("code", "x = 1", "key", "a");
    JsonNode failed = ScriptedServer.json(turn(session, "?wait=30", body));
    assertThat(failed.path("state").asString()).isEqualTo("failed");
    assertThat(failed.has("reward")).isFalse();
    server.referee.failure = null;
    JsonNode judged =
        await() // That it failed is written a little later.
            .atMost(Patience.LIMIT)
            .until(
                () -> ScriptedServer.json(turn(session, "?wait=30", body)),
                found -> found.path("state").asString().equals("done"));
    assertThat(judged.path("judgement")).isEqualTo(failed.path("judgement"));
    assertThat(judged.at("/left/judgements").asInt()).isEqualTo(9);
  }

  @Test
  void aFailedTurnIsSentAgainOnlyToASessionThatTakesTurns() throws Exception {
    JsonNode session = begin(Map.of());
    JsonNode spent = begin(Map.of("method", "spent", "budget", Map.of("judgements", 1)));
    JsonNode closed = begin(Map.of("method", "closed"));
    List<JsonNode> all = List.of(session, spent, closed);
    Map<String, String> first = Map.of("code", "x = 1", "key", "a");
    server.referee.failure = new IllegalStateException("workers are away");
    for (JsonNode each : all) assertThat(turn(each, "", first).statusCode()).isEqualTo(202);
    for (JsonNode each : all) awaitStored(each, Submission.State.FAILED);
    server.referee.failure = null;
    turn(spent, "x = 0");
    refused(turn(spent, "", first), 409, "budget of 1 judgements");
    server.referee.permits.drainPermits();
    assertThat(server.send(server.to(path(closed)).DELETE()).statusCode()).isEqualTo(200);
    refused(turn(closed, "", first), 409, "was ended");
    Map<String, String> second = Map.of("code", "x = 2", "key", "b");
    assertThat(turn(session, "", second).statusCode()).isEqualTo(202);
    refused(turn(session, "", first), 409, "turn 1 is being judged");
    server.referee.permits.release();
    assertThat(turn(session, "?wait=30", second).statusCode()).isEqualTo(200);
    assertThat(turn(session, "", first).statusCode()).isEqualTo(202);
    refused(turn(session, "", Map.of("code", "x = 3")), 409, "turn 0 is being judged");
    server.referee.permits.release();
    assertThat(turn(session, "?wait=30", first).statusCode()).isEqualTo(200);
    assertThat(server.referee.judged).containsExactly("x = 0", "x = 2", "x = 1");
  }

  private void awaitStored(JsonNode session, Submission.State state) {
    String id = session.path("id").asString();
    await()
        .atMost(Patience.LIMIT)
        .until(() -> server.store.sessions().turns(id).getFirst().submission().state() == state);
  }

  private static RunStore.Copied copied(RunStore from, RunStore to) {
    List<RunStore.Copied> copied = to.copy(List.of(RunStore.Selection.all(from)));
    assertThat(copied).hasSize(1);
    return copied.getFirst();
  }

  private static List<SessionTurn> turns(RunStore store, String session) {
    return SessionRuns.turns(store, store.sessions().turns(session));
  }

  @Test
  void copiedRunsHaveTheirSessions() throws Exception {
    JsonNode answered = begin(Map.of("key", "mine", "start", "x = '\u0000'"));
    turn(answered, "x = 1");
    server.referee.answer = ScriptedReferee.judgement("wrong_values", false, "off by one");
    turn(answered, "x = 2");
    server.referee.answer = ScriptedReferee.judgement("correct", true);
    finish(answered, "{}");
    JsonNode open = begin(Map.of("method", "other"));
    turn(open, "x = 3");
    await().atMost(Patience.LIMIT).until(() -> server.store.service().queued().isEmpty());
    server.referee.permits.drainPermits();
    turn(open, "", Map.of("code", "x = 4"));
    String id = answered.path("id").asString();
    String other = open.path("id").asString();
    for (StoreAddress address :
        List.of(
            StoreAddress.of(folder.resolve("copy.db")),
            StoreAddress.of(TestPostgres.newDatabase()))) {
      try (RunStore copy = RunStore.open(address)) {
        RunStore.Copied run = copied(server.store, copy);
        assertThat(run.added()).isTrue();
        Session original = server.store.sessions().session(id).orElseThrow();
        assertThat(copy.sessions().of(run.run().id()))
            .usingRecursiveFieldByFieldElementComparatorIgnoringFields("key")
            .isEqualTo(server.store.sessions().of(run.run().id()));
        assertThat(original.key()).isEqualTo("mine");
        assertThat(copy.sessions().session(id).orElseThrow().key())
            .as("it names a session of the other server")
            .isNull();
        assertThat(turns(copy, id)).hasSize(2).isEqualTo(turns(server.store, id));
        assertThat(turns(copy, other))
            .as("a turn that waits is judged where it was accepted")
            .isEqualTo(turns(server.store, other).subList(0, 1));
        assertThat(copy.service().queued()).isEmpty();
        assertThat(copy.flaws()).isEmpty();
      }
    }
    server.referee.permits.release();
    await()
        .atMost(Patience.LIMIT)
        .until(() -> server.store.sessions().turns(other).getLast().judged() != null);
    try (RunStore copy = RunStore.open(StoreAddress.of(folder.resolve("copy.db")))) {
      assertThat(copied(server.store, copy).added()).isFalse();
      assertThat(turns(copy, other)).hasSize(2).isEqualTo(turns(server.store, other));
    }
  }

  @Test
  void noKeyOfATurnIsThatOfTheAnswer() throws Exception {
    JsonNode session = begin(Map.of());
    for (String key : List.of("answer", "/answer", " answer")) {
      Map<String, String> body = Map.of("code", "x = '%s'".formatted(key), "key", key);
      assertThat(turn(session, "?wait=30", body).statusCode()).isEqualTo(200);
    }
    assertThat(finish(session, "{}").path("state").asString()).isEqualTo("done");
  }

  @Test
  void aRefusedAnswerLeavesTheSessionOpen() throws Exception {
    JsonNode session = begin(Map.of());
    turn(session, "x = 1");
    server.drain();
    refused(server.post(path(session) + "/final", JSON, "{\"turn\":0}"), 503, "being stopped");
    JsonNode open = ScriptedServer.json(server.get(path(session)));
    assertThat(open.path("state").asString()).isEqualTo("open");
    server.stop();
    server = new ScriptedServer(folder, false);
    turn(session, "x = 2");
    assertThat(finish(session, "{\"turn\":1}").path("turn").asInt()).isOne();
  }

  @Test
  void anAnswerThatWasChosenAndNotAcceptedIsJudgedWhenAskedAgain() throws Exception {
    JsonNode session = begin(Map.of());
    turn(session, "x = 1");
    turn(session, "x = 2");
    Session stored = server.store.sessions().session(session.path("id").asString()).orElseThrow();
    Instant now = Instant.now();
    server
        .store
        .sessions()
        .end(stored.ended(new Session.End(Session.State.ANSWERED, now, 1, "as if killed here")));
    JsonNode seen = ScriptedServer.json(server.get(path(session) + "?wait=1"));
    assertThat(seen.at("/final/state").asString()).isEqualTo("pending");
    JsonNode end = finish(session, "{}");
    assertThat(end.path("state").asString()).isEqualTo("done");
    assertThat(end.path("turn").asInt()).isOne();
    assertThat(server.referee.plans).containsKey("x = 2 " + Inputs.ALL);
  }

  @Test
  void aSpentBudgetEndsTheTurns() throws Exception {
    JsonNode session = begin(Map.of("budget", Map.of("judgements", 2)));
    server.referee.answer = ScriptedReferee.judgement("infrastructure", false);
    JsonNode failed = turn(session, "x = 0");
    assertThat(failed.has("reward")).as("the judge failed: no reward, not 0").isFalse();
    assertThat(failed.at("/left/judgements").asInt()).isEqualTo(2);
    server.referee.answer = ScriptedReferee.judgement("correct", true);
    turn(session, "x = 1");
    assertThat(turn(session, "x = 2").at("/left/judgements").asInt()).isZero();
    refused(turn(session, "", Map.of("code", "x = 3")), 409, "budget of 2 judgements");
    assertThat(finish(session, "{\"turn\":2}").path("turn").asInt()).isEqualTo(2);
    JsonNode short_ = begin(Map.of("method", "s", "budget", Map.of("device_seconds", 0.05)));
    turn(short_, "x = 4");
    refused(turn(short_, "", Map.of("code", "x = 5")), 409, "0.05 device seconds");
    JsonNode brief = begin(Map.of("method", "b", "budget", Map.of("wall_seconds", 0.001)));
    Thread.sleep(2);
    refused(turn(brief, "", Map.of("code", "x = 5")), 409, "0.001 wall seconds");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anAcceptedTurnIsJudgedByTheNextServer(boolean team) throws Exception {
    server.close();
    StoreAddress address = StoreAddress.of(folder.resolve("again.db"));
    if (team) address = StoreAddress.of(TestPostgres.newDatabase());
    server = new ScriptedServer(address, folder, false);
    JsonNode session = begin(Map.of("key", "mine"));
    turn(session, "x = 1");
    server.referee.permits.drainPermits();
    Map<String, String> second = Map.of("code", "x = 2", "key", "two");
    assertThat(turn(session, "", second).statusCode()).isEqualTo(202);
    server.stop();
    server = new ScriptedServer(address, folder, false);
    assertThat(begin(Map.of("key", "mine")).path("id")).isEqualTo(session.path("id"));
    JsonNode resumed = ScriptedServer.json(server.get(path(session) + "?wait=30"));
    assertThat(resumed.path("turns")).hasSize(2);
    assertThat(resumed.at("/turns/1/state").asString()).isEqualTo("done");
    assertThat(resumed.path("messages")).isEqualTo(session.path("messages"));
    JsonNode found = ScriptedServer.json(turn(session, "", second));
    assertThat(found.path("judgement")).isEqualTo(resumed.at("/turns/1/judgement"));
    assertThat(server.referee.judged).containsExactly("x = 2");
    assertThat(finish(session, "{}").path("state").asString()).isEqualTo("done");
  }

  @Test
  void developmentJudgementsAreNotAmongVerdicts() throws Exception {
    JsonNode session = begin(Map.of());
    turn(session, "x = 1");
    turn(session, "x = 2");
    String run = session.path("run").asString();
    String verdicts = "/v1/runs/" + run + "/verdicts";
    assertThat(ScriptedServer.json(server.get(verdicts)).path("verdicts")).isEmpty();
    assertThat(ScriptedServer.json(server.get("/v1/judgements")).path("judgements")).isEmpty();
    finish(session, "{}");
    assertThat(ScriptedServer.json(server.get(verdicts)).path("verdicts")).hasSize(1);
  }

  @Test
  void analysesOfMethodsReadSessions() throws Exception {
    for (int i = 0; i < 3; i++) {
      JsonNode session = begin(Map.of("run", "grpo", "method", "policy", "model", "m"));
      server.referee.answer = ScriptedReferee.judgement("wrong_values", false);
      turn(session, "x = %d".formatted(10 * i));
      server.referee.answer = ScriptedReferee.judgement("correct", true);
      turn(session, "x = %d".formatted(10 * i + 1));
      if (i == 0) finish(session, "{}");
      if (i == 1) {
        var ended = server.send(server.to(path(session)).DELETE());
        assertThat(ended.statusCode()).isEqualTo(200);
      }
    }
    String run = ScriptedServer.json(server.get("/v1/runs")).at("/runs/0/id").asString();
    var found = NamedRun.find(List.of(run), ResultsFolder.ownStore(folder)).getFirst();
    Path ledger = Ledgers.file(folder, run);
    List<TrajectoryRow> rows = Ledgers.rows(ledger, found.judged().rows());
    assertThat(rows)
        .as("one has its answer, one was ended without, one goes on")
        .extracting(TrajectoryRow::correct)
        .containsExactly(true, null);
    assertThat(rows.getLast().rounds()).hasSize(2);
    TrajectoryRow row = rows.getFirst();
    assertThat(row.method()).isEqualTo("policy");
    assertThat(row.rounds())
        .extracting(TrajectoryRow.Round::status)
        .containsExactly(Status.WRONG_VALUES, Status.CORRECT);
    assertThat(row.correct()).isTrue();
  }

  @Test
  void aSessionIsItsClients() throws Exception {
    String ann = server.token("ann", "submit", "read");
    String ben = server.token("ben", "submit", "read");
    server.as(ann);
    JsonNode session = begin(Map.of());
    server.as(ben);
    refused(turn(session, "", Map.of("code", "x = 1")), 403, "another client's");
    refused(server.post(path(session) + "/final", JSON, "{}"), 403, "another client's");
    refused(server.send(server.to(path(session)).DELETE()), 403, "another client's");
    assertThat(server.get(path(session)).statusCode()).isEqualTo(200);
    server.as(ann);
    assertThat(server.send(server.to(path(session)).DELETE()).statusCode()).isEqualTo(200);
    refused(turn(session, "", Map.of("code", "x = 1")), 409, "was ended");
    refused(server.post(path(session) + "/final", JSON, "{}"), 409, "without an answer");
  }

  @Test
  void aSessionWithoutATurnHasAnAnswerWithoutCode() throws Exception {
    server.referee.answer = ScriptedReferee.judgement("no_code", false);
    JsonNode end = finish(begin(Map.of()), "{}");
    assertThat(end.has("turn")).isFalse();
    assertThat(end.path("reward").asDouble(-1)).isZero();
  }

  @Test
  void aKeyThatIsUsedAgainBeginsNoRun() throws Exception {
    JsonNode session = begin(Map.of("key", "mine"));
    JsonNode again = begin(Map.of("key", "mine", "run", "another"));
    assertThat(again.path("id")).isEqualTo(session.path("id"));
    assertThat(server.store.runs()).hasSize(1);
  }

  @Test
  void aMethodOfARunHasOneMeaning() throws Exception {
    JsonNode one = begin(Map.of());
    assertThat(begin(Map.of()).path("sample").asInt()).isEqualTo(1);
    assertThat(begin(Map.of("task", "softmax")).path("sample").asInt()).isZero();
    assertThat(one.path("sample").asInt()).isZero();
    String other = json(Map.of("task", "relu", "model", "another"));
    refused(server.post("/v1/sessions", JSON, other), 409, "name another method or run");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "/task | {}",
        "/task | {\"task\":\"nothing\"}",
        "/conditions | {\"task\":\"relu\",\"conditions\":{\"nonsense\":1}}",
        "/conditions/shots | {\"task\":\"relu\",\"conditions\":{\"shots\":\"two\"}}",
        "/conditions/language | {\"task\":\"relu\",\"conditions\":{\"language\":\"cuda\"}}",
        "/budget | {\"task\":\"relu\",\"budget\":{\"calls\":1}}",
        "/budget/judgements | {\"task\":\"relu\",\"budget\":{\"judgements\":1.5}}",
        "/budget/wall_seconds | {\"task\":\"relu\",\"budget\":{\"wall_seconds\":0}}",
        "/answer | {\"task\":\"relu\",\"answer\":\"worst\"}",
        "/plan | {\"task\":\"relu\",\"plan\":{\"nonsense\":1}}",
      })
  void whatCannotBeUsedIsNamed(String pointer, String body) throws Exception {
    HttpResponse<String> answer = server.post("/v1/sessions", JSON, body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(422);
    assertThat(ScriptedServer.json(answer).path("pointer").asString()).isEqualTo(pointer);
  }
}
