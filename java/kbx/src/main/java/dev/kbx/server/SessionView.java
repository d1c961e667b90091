package dev.kbx.server;

import dev.kbx.app.SessionRuns;
import dev.kbx.generate.MethodSettings;
import dev.kbx.plan.Grade;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.prompt.MeasuredPeaks;
import dev.kbx.prompt.PromptConditions;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import dev.kbx.prompt.PromptConditions.Format;
import dev.kbx.prompt.PromptConditions.History;
import dev.kbx.prompt.PromptConditions.Language;
import dev.kbx.prompt.PromptConditions.Shots;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.store.RunStore;
import dev.kbx.store.Session;
import dev.kbx.store.Session.Turn;
import dev.kbx.store.Submission;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Provenance;
import dev.kbx.verdict.Reward;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Sessions in JSON: prompts and feedback are those that methods get. */
final class SessionView {
  private final Sessions sessions;
  private final RunStore reads;
  private final Machine machine;
  private final JudgementView judgements;
  private final Map<Map<String, String>, PromptWriter> writers = new ConcurrentHashMap<>();

  SessionView(Sessions sessions, JudgingService judging, RunStore reads, Machine machine) {
    this.sessions = sessions;
    this.reads = reads;
    this.machine = machine;
    this.judgements = new JudgementView(judging, reads.service());
  }

  private PromptWriter writer(Session session) {
    Map<String, String> factors = SessionRuns.settings(session).factors();
    return writers.computeIfAbsent(
        factors,
        _ ->
            new PromptWriter(
                machine.statement().prompts(),
                conditions(factors),
                machine.device(),
                MeasuredPeaks.NONE));
  }

  private static PromptConditions conditions(Map<String, String> factors) {
    return new PromptConditions(
        one(Shots.class, factors, "shots"),
        Boolean.parseBoolean(factors.get("hardware")),
        Boolean.parseBoolean(factors.get("advice")),
        one(Language.class, factors, "language"),
        one(FeedbackKind.class, factors, "feedback"),
        one(History.class, factors, "history"),
        one(Format.class, factors, "format"),
        one(Grade.class, factors, "grade"),
        one(Policy.class, factors, "policy"),
        one(ModulePrecision.class, factors, "precision"));
  }

  private static <E extends Enum<E>> E one(
      Class<E> type, Map<String, String> factors, String name) {
    return Enum.valueOf(type, String.valueOf(factors.get(name)).toUpperCase(Locale.ROOT));
  }

  /** A session with its turns. */
  ObjectNode of(Session session, boolean prompt) {
    MethodSettings settings = SessionRuns.settings(session);
    List<Turn> turns = sessions.turns(session);
    ObjectNode node = Json.mapper().createObjectNode();
    node.put("id", session.id());
    node.put("state", session.end().state().name().toLowerCase(Locale.ROOT));
    node.put("client", session.client());
    node.put("run", session.run());
    node.put("suite", session.suite());
    node.put("task", session.task());
    node.put("method", session.method());
    node.put("model", settings.model());
    node.put("sample", session.sample());
    node.put("begun", session.begun().toString());
    if (session.key() != null) node.put("key", session.key());
    node.set("conditions", Json.mapper().valueToTree(settings.factors()));
    node.set("left", left(session, turns));
    if (prompt) node.set("messages", messages(session));
    ArrayNode all = node.putArray("turns");
    for (Turn turn : turns) all.add(turn(session, turn));
    if (session.end().state() == Session.State.ANSWERED) node.set("final", answer(session));
    return node;
  }

  private ArrayNode messages(Session session) {
    ArrayNode messages = Json.mapper().createArrayNode();
    for (PromptWriter.Turn turn : writer(session).first(sessions.task(session), session.start())) {
      messages.addObject().put("role", turn.role()).put("content", turn.text());
    }
    return messages;
  }

  /** One turn, and what is left after it. */
  ObjectNode turn(Session session, Submission taken) {
    List<Turn> turns = sessions.turns(session);
    int number = Objects.requireNonNull(taken.identity().round());
    ObjectNode node = turn(session, turns.get(number));
    node.set("left", left(session, turns));
    return node;
  }

  private static ObjectNode left(Session session, List<Turn> turns) {
    Sessions.Left left = Sessions.Left.of(session, turns, Instant.now());
    ObjectNode node = Json.mapper().createObjectNode().put("judgements", left.judgements());
    if (left.deviceSeconds() != null) node.put("device_seconds", left.deviceSeconds());
    return node.put("wall_seconds", left.wallSeconds());
  }

  private ObjectNode turn(Session session, Turn turn) {
    Submission submission = turn.submission();
    ObjectNode node = Json.mapper().createObjectNode();
    node.put("number", turn.number());
    node.put("state", turn.judgement() == null ? state(submission) : "done");
    node.put("judgement", submission.id());
    node.put("candidate", submission.identity().source());
    node.put("submitted", submission.submitted().toString());
    if (submission.key() != null) {
      node.put("key", submission.key().substring(session.id().length() + 1));
    }
    if (submission.outcome().message() != null) {
      node.put("message", submission.outcome().message());
    }
    SessionRuns.judgement(turn).ifPresent(found -> add(node, session, submission, found));
    return node;
  }

  private static String state(Submission submission) {
    return submission.state() == Submission.State.QUEUED
        ? "judging"
        : submission.state().name().toLowerCase(Locale.ROOT);
  }

  /** What a program of a method is told. */
  private void add(ObjectNode node, Session session, Submission turn, Judgement found) {
    Task task = sessions.task(session);
    node.put("status", found.status().label());
    node.put("correct", found.status() == Status.CORRECT);
    Reward.of(found).ifPresent(reward -> node.put("reward", reward));
    if (found.speedup() != null) node.set("speedup", Json.mapper().valueToTree(found.speedup()));
    String code = reads.source(turn.identity().source()).orElse("");
    String feedback = writer(session).feedback(task, code, found);
    if (feedback.isEmpty()) return;
    node.put("feedback", feedback);
    node.set("verdict", Json.mapper().valueToTree(found.on(provenance(turn, task))));
  }

  private static Provenance provenance(Submission turn, Task task) {
    return new Provenance(
        turn.run(),
        turn.identity().source(),
        turn.origin(),
        task.suite(),
        task.name(),
        task.category(),
        turn.identity().sample(),
        turn.identity().method(),
        turn.identity().model(),
        turn.identity().round(),
        turn.conditions(),
        null);
  }

  private ObjectNode answer(Session session) {
    ObjectNode node = Json.mapper().createObjectNode();
    if (session.end().answer() != null) node.put("turn", session.end().answer());
    node.put("why", session.end().why());
    Submission answer = sessions.answer(session).orElse(null);
    node.put("state", answer == null ? "pending" : state(answer));
    if (answer == null) return node;
    node.put("judgement", answer.id());
    if (answer.outcome().message() != null) node.put("message", answer.outcome().message());
    JsonNode verdict = judgements.of(List.of(answer)).get(0).path("verdict");
    if (verdict.isMissingNode()) return node;
    JsonNode whole = Json.mapper().readTree(verdict.toString());
    node.set("verdict", whole);
    Reward.of(Json.mapper().treeToValue(whole, Verdict.class).judgement())
        .ifPresent(reward -> node.put("reward", reward));
    return node;
  }
}
