package dev.kbx.app;

import dev.kbx.generate.Header;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.SessionLedger;
import dev.kbx.generate.SessionTurn;
import dev.kbx.generate.Unit;
import dev.kbx.store.RunStore;
import dev.kbx.store.Session;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The sessions of a store's runs as trajectories of methods: what analyses and reports of methods
 * read.
 */
public final class SessionRuns {
  private SessionRuns() {}

  /** Writes the ledger of a run into a results folder, if the run has sessions. */
  static void writeLedger(RunStore store, RunInfo run, Path out) {
    List<Session> sessions = store.sessions().of(run.id());
    if (sessions.isEmpty()) return;
    Map<String, MethodSettings> methods = new LinkedHashMap<>();
    for (Session each : sessions) {
      MethodSettings _ = methods.computeIfAbsent(each.method(), _ -> settings(each));
    }
    Map<String, String> judging = new TreeMap<>();
    judging.put("grade", run.grade());
    judging.put("policy", String.valueOf(run.policy()));
    judging.put("precision", run.precision());
    Header header =
        new Header(
            run.id(),
            run.started(),
            run.suite(),
            run.tasks(),
            List.copyOf(methods.values()),
            run.device(),
            run.versions(),
            judging);
    Iterable<SessionLedger.Trajectory> all =
        () -> sessions.stream().map(each -> trajectory(store, each)).iterator();
    SessionLedger.write(Ledgers.file(out, run.id()), header, all);
  }

  /** The settings of a session's method. */
  public static MethodSettings settings(Session session) {
    return Json.mapper().readValue(session.settings(), MethodSettings.class);
  }

  /** The turns of a session that have a judgement, or wait for one. */
  public static List<SessionTurn> turns(RunStore store, List<Session.Turn> turns) {
    return turns.stream()
        .map(turn ->
            new SessionTurn(
                turn.number(),
                store.source(turn.submission().identity().source()).orElse(""),
                turn.submission().submitted(),
                judgement(turn).orElse(null),
                turn.judged()))
        .toList();
  }

  /** What was found in a turn. */
  public static Optional<Judgement> judgement(Session.Turn turn) {
    return Optional.ofNullable(turn.judgement())
        .map(json -> Json.mapper().readValue(json, Judgement.class));
  }

  private static SessionLedger.Trajectory trajectory(RunStore store, Session session) {
    Session.End end = session.end();
    return new SessionLedger.Trajectory(
        new Unit(session.method(), session.task(), session.sample()),
        turns(store, store.sessions().turns(session.id())),
        end.at() == null
            ? null
            : new SessionLedger.Chosen(
                end.answer(),
                Objects.requireNonNullElse(end.why(), "ended without an answer"),
                end.at()));
  }
}
