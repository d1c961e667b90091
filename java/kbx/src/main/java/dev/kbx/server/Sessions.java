package dev.kbx.server;

import dev.kbx.app.SessionRuns;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.Extraction;
import dev.kbx.candidate.Source;
import dev.kbx.generate.Generation;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.SessionTurn;
import dev.kbx.method.Next;
import dev.kbx.plan.Plan;
import dev.kbx.server.Acceptance.Order;
import dev.kbx.server.Acceptance.Wanted;
import dev.kbx.server.SessionReader.Asked;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.ServiceStore.ServiceRun;
import dev.kbx.store.Session;
import dev.kbx.store.Session.Turn;
import dev.kbx.store.Submission;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Several turns at one task, one after the other. A turn is accepted as any candidate is, and
 * judged on development inputs; the answer is judged on held-out ones. Safe for several threads.
 */
final class Sessions {
  /** Open sessions of one client. */
  private static final int MOST_OPEN = 10_000;

  private final JudgingService judging;
  private final RunStore store;
  private final RunStore reads;
  private final JudgementView view;
  private final Machine machine;

  /** What changes a session holds one of them. */
  private final ReentrantLock[] locks = new ReentrantLock[64];

  /**
   * @param reads the same store over another connection
   */
  Sessions(JudgingService judging, RunStore store, RunStore reads, Machine machine) {
    this.judging = judging;
    this.store = store;
    this.reads = reads;
    this.view = new JudgementView(judging, reads.service());
    this.machine = machine;
    for (int i = 0; i < locks.length; i++) locks[i] = new ReentrantLock();
  }

  /** Begins a session, unless the client has one with that key. */
  Session begin(Client client, Asked asked) {
    String settings = Json.mapper().writeValueAsString(asked.settings());
    return alone(
        "begin",
        () -> {
          Optional<Session> earlier =
              Optional.ofNullable(asked.key())
                  .flatMap(key -> reads.sessions().keyed(client.name(), key));
          if (earlier.isPresent()) return same(earlier.get(), asked, settings);
          needRoom(client);
          return stored(wanted(client, asked, settings));
        });
  }

  private Session wanted(Client client, Asked asked, String settings) {
    return new Session(
        judging.nextId("s_"),
        client.name(),
        asked.key(),
        judging.run(asked.run(), asked.suite(), asked.plan()),
        asked.suite().name(),
        asked.task().path(),
        asked.settings().name(),
        0,
        settings,
        asked.start(),
        Instant.now(),
        Session.End.OPEN);
  }

  private static Session same(Session earlier, Asked asked, String settings) {
    boolean same =
        earlier.task().equals(asked.task().path())
            && earlier.suite().equals(asked.suite().name())
            && earlier.settings().equals(settings);
    if (same) return earlier;
    throw Refusal.conflict(
        "/key",
        "key: '%s' was used with another task or other settings; give each session its own"
            .formatted(Plans.cut(String.valueOf(earlier.key()))));
  }

  private void needRoom(Client client) {
    Instant since = Instant.now().minusSeconds(SessionReader.MOST_WALL);
    if (reads.sessions().open(client.name(), since) < MOST_OPEN) return;
    throw Refusal.later(
        429, "%d sessions of yours are open: end some of them".formatted(MOST_OPEN), 60);
  }

  /** Methods of a run are told apart by their names, so that one name has one meaning. */
  private Session stored(Session wanted) {
    Optional<Session> newest = reads.sessions().newest(wanted.run(), wanted.method());
    if (newest.isPresent() && !newest.get().settings().equals(wanted.settings())) {
      throw Refusal.conflict(
          "/method",
          "method: '%s' of this run has another model, budget, answer or other conditions; name another method or run"
              .formatted(Plans.cut(wanted.method())));
    }
    return store.sessions().begin(wanted);
  }

  private interface Work<T> {
    T get();
  }

  private <T> T alone(String id, Work<T> work) {
    ReentrantLock lock = locks[Math.floorMod(id.hashCode(), locks.length)];
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  /** The session of that id. */
  Session find(String id) {
    return reads
        .sessions()
        .session(id)
        .orElseThrow(() -> Refusal.of(404, "no session '%s'".formatted(Plans.cut(id))));
  }

  private Session own(Client client, String id) {
    Session session = find(id);
    if (session.client().equals(client.name()) || client.may(Client.Scope.ADMIN)) return session;
    throw Refusal.of(403, "it is another client's session; only the scope admin goes on with it");
  }

  /** The turns of a session as they are now. */
  List<Turn> turns(Session session) {
    List<Turn> turns = reads.sessions().turns(session.id());
    List<Submission> unjudged =
        turns.stream().filter(each -> each.judgement() == null).map(Turn::submission).toList();
    if (unjudged.isEmpty()) return turns;
    Map<String, Submission> now = new HashMap<>();
    for (Submission each : view.now(unjudged)) now.put(each.id(), each);
    // A judgement is stored before its turn is done.
    if (now.values().stream().anyMatch(each -> each.state() == Submission.State.DONE)) {
      turns = reads.sessions().turns(session.id());
    }
    return turns.stream().map(each -> now(each, now)).toList();
  }

  private static Turn now(Turn turn, Map<String, Submission> now) {
    Submission found = now.get(turn.submission().id());
    return turn.judgement() != null || found == null ? turn : new Turn(found, null, null);
  }

  /** The answer of a session as it is now; empty if it has none. */
  Optional<Submission> answer(Session session) {
    return reads.service().keyed(session.client(), List.of(answerKey(session))).values().stream()
        .findFirst()
        .map(each -> view.now(List.of(each)).getFirst());
  }

  /** No turn's: those have a space after the id. */
  private static String answerKey(Session session) {
    return session.id() + "/answer";
  }

  /**
   * Takes a turn, or finds the one of that key.
   *
   * @param reply the kernel, or a model's reply that has it
   * @return its submission, as it was accepted
   */
  Submission turn(Client client, String id, String reply, @Nullable String key) {
    return alone(
        id,
        () -> {
          Session session = own(client, id);
          List<Turn> turns = turns(session);
          String own = key == null ? null : session.id() + " " + key;
          Optional<Turn> earlier =
              turns.stream()
                  .filter(each -> own != null && own.equals(each.submission().key()))
                  .findFirst();
          if (earlier.isEmpty() || isFailed(earlier.get())) needOpen(session, turns);
          int number = earlier.map(Turn::number).orElse(turns.size());
          String code = Extraction.source(reply, task(session)).code();
          return submit(session, code, number, own, earlier.isEmpty());
        });
  }

  private void needOpen(Session session, List<Turn> turns) {
    switch (session.end().state()) {
      case ANSWERED -> throw Refusal.of(409, "the session has its answer: it takes no more turns");
      case CLOSED -> throw Refusal.of(409, "the session was ended");
      case OPEN -> {}
    }
    refuseWhileJudging(turns);
    Optional<String> limit = Left.of(session, turns, Instant.now()).spent();
    if (limit.isEmpty()) return;
    throw Refusal.of(
        409, "the budget of %s is spent; ask for the final verdict".formatted(limit.get()));
  }

  private static void refuseWhileJudging(List<Turn> turns) {
    Optional<Turn> open = turns.stream().filter(Sessions::isOpen).findFirst();
    if (open.isEmpty()) return;
    throw Refusal.of(409, "turn %d is being judged; wait for it".formatted(open.get().number()));
  }

  /** Whether it is queued again when it is sent again. */
  private static boolean isFailed(Turn turn) {
    return turn.submission().state() == Submission.State.FAILED;
  }

  static boolean isOpen(Turn turn) {
    return turn.judgement() == null && turn.submission().state() == Submission.State.QUEUED;
  }

  Task task(Session session) {
    return machine
        .task(session.suite(), session.task())
        .orElseThrow(() ->
            Refusal.of(409, "%s: this server has no such task any more".formatted(session.task())));
  }

  /**
   * Has a kernel of a session judged.
   *
   * @param number of the turn; null for the answer
   * @param comparable whether it must be judged as the session's first turns were
   */
  private Submission submit(
      Session session,
      String code,
      @Nullable Integer number,
      @Nullable String key,
      boolean comparable) {
    MethodSettings settings = SessionRuns.settings(session);
    ServiceRun run = reads.service().serviceRunOf(session.run()).orElseThrow();
    Plan plan = Plans.of(Json.mapper().readTree(run.plan()), machine.secret());
    Task task = task(session);
    if (comparable && !isHere(session, run, plan)) {
      throw Refusal.of(
          409,
          "the session began on another device, with other versions, another seed or other kernels"
              + " of experts, so that its feedback would not be comparable; begin a new one");
    }
    Candidate candidate =
        new Candidate(
            task,
            new Source.Text(code),
            number == null ? "session" : "session turn-" + number,
            session.sample(),
            session.method(),
            settings.model(),
            number,
            settings.conditions());
    Order order = new Order(session.client(), run.name(), plan, 0, null, session.id());
    return judging.accept(order, List.of(new Wanted(candidate, key, ""))).getFirst();
  }

  private boolean isHere(Session session, ServiceRun run, Plan plan) {
    return judging
        .run(run.name(), machine.suite(session.suite()).orElseThrow(), plan)
        .equals(session.run());
  }

  /**
   * Has the answer judged on held-out inputs. If its judgement is refused, the session is open as
   * before; if the server ends before it is accepted, it is when this is asked again.
   *
   * @param turn whose kernel it is; null for the one that the session's settings choose
   */
  Session finish(Client client, String id, @Nullable Integer turn) {
    return alone(
        id,
        () -> {
          Session session = own(client, id);
          List<Turn> turns = turns(session);
          return switch (session.end().state()) {
            case ANSWERED -> answer(answered(session, turn), turns);
            case CLOSED -> throw Refusal.of(409, "the session was ended without an answer");
            case OPEN -> {
              Session ended = chosen(session, turns, turn);
              store.sessions().end(ended);
              try {
                yield answer(ended, turns);
              } catch (Refusal e) {
                store.sessions().end(session);
                throw e;
              }
            }
          };
        });
  }

  /** Has the answer judged, unless it was accepted before. */
  private Session answer(Session ended, List<Turn> turns) {
    Integer answer = ended.end().answer();
    String code = answer == null ? "" : code(turns.get(answer));
    Submission _ = submit(ended, code, null, answerKey(ended), false);
    return ended;
  }

  private static Session answered(Session session, @Nullable Integer turn) {
    if (turn == null || turn.equals(session.end().answer())) return session;
    throw Refusal.conflict("/turn", "turn: the session has another answer already");
  }

  private Session chosen(Session session, List<Turn> turns, @Nullable Integer turn) {
    refuseWhileJudging(turns);
    if (turn != null && turn >= turns.size()) {
      throw Refusal.unusable(
          "/turn", "turn: the session has %d turns, counted from 0".formatted(turns.size()));
    }
    Session.End end = turn == null ? best(session, turns) : end(turn, "chosen by the client");
    return session.ended(end);
  }

  private Session.End best(Session session, List<Turn> turns) {
    List<SessionTurn> all = SessionRuns.turns(reads, turns);
    Next.Answer answer =
        SessionRuns.settings(session).options().answer().of(SessionTurn.history(all));
    Integer number =
        all.stream()
            .filter(each -> each.ask().equals(answer.ask()))
            .findFirst()
            .map(SessionTurn::number)
            .orElse(null);
    return end(number, answer.why());
  }

  private static Session.End end(@Nullable Integer turn, String why) {
    return new Session.End(Session.State.ANSWERED, Instant.now(), turn, why);
  }

  private String code(Turn turn) {
    return reads.source(turn.submission().identity().source()).orElseThrow();
  }

  /** Ends a session without an answer. */
  Session close(Client client, String id) {
    return alone(
        id,
        () -> {
          Session session = own(client, id);
          if (session.end().state() != Session.State.OPEN) return session;
          Session closed =
              session.ended(new Session.End(Session.State.CLOSED, Instant.now(), null, null));
          store.sessions().end(closed);
          store
              .service()
              .audit(new ServiceStore.Audit(Instant.now(), client.name(), "end session", id));
          return closed;
        });
  }

  /** Waits until a turn is judged, at most for a time. */
  void await(Submission turn, Duration most) throws InterruptedException {
    judging.await(List.of(turn.id()), most);
  }

  /** Waits until nothing of a session is being judged, at most for a time. */
  void await(Session session, Duration most) throws InterruptedException {
    List<String> open =
        new ArrayList<>(
            turns(session).stream()
                .filter(Sessions::isOpen)
                .map(turn -> turn.submission().id())
                .toList());
    answer(session).map(Submission::id).ifPresent(open::add);
    judging.await(open, most);
  }

  /**
   * What is left of a session's budget.
   *
   * @param judgements turns
   * @param deviceSeconds null without a limit
   * @param spent the limit that is reached, in words
   */
  record Left(
      long judgements, @Nullable Double deviceSeconds, double wallSeconds, Optional<String> spent) {
    static Left of(Session session, List<Turn> turns, Instant now) {
      MethodSettings settings = SessionRuns.settings(session);
      List<Judgement> found =
          turns.stream().flatMap(each -> SessionRuns.judgement(each).stream()).toList();
      // What kbx failed at is not the client's.
      long judged =
          found.stream().filter(each -> each.status().blame() != Status.Blame.KBX).count();
      double device = found.stream().mapToDouble(Generation.DevelopmentJudge::seconds).sum();
      double wall = Duration.between(session.begun(), now).toMillis() / 1e3;
      int most = settings.options().turns();
      Optional<String> spent =
          judged >= most
              ? Optional.of(most + " judgements")
              : settings
                  .perTask()
                  .refusesTrial(new Spent.Amounts().deviceSeconds(device).spent(), wall);
      Double limit = settings.perTask().deviceSeconds();
      Double time = settings.perTask().wallSeconds();
      return new Left(
          Math.max(0, most - judged),
          limit == null ? null : (Double) Math.max(0, limit - device),
          time == null ? 0 : Math.max(0, time - wall),
          spent);
    }
  }
}
