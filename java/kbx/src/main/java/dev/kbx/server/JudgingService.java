package dev.kbx.server;

import static java.util.Objects.requireNonNull;

import dev.kbx.judge.Referee;
import dev.kbx.judge.WorkQueue.Lease;
import dev.kbx.plan.Plan;
import dev.kbx.run.StandingRun;
import dev.kbx.run.StandingRun.Placed;
import dev.kbx.store.ClaimLost;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreProblem;
import dev.kbx.store.Submission;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.CandidateIdentity;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Judges what was accepted, each candidate once; a new start goes on with what has no verdict. Safe
 * for several threads.
 */
final class JudgingService implements AutoCloseable {
  /** Candidates taken beyond those being judged, so that no slot waits for the queue. */
  private static final int LOOKAHEAD = 4;

  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
  private static final Duration TICK = Duration.ofSeconds(1);
  private static final int MOST_ATTEMPTS = 5;

  /** The dispatcher comes round once a second, however long candidates take. */
  private static final Duration STUCK = Duration.ofSeconds(30);

  private static final System.Logger LOG = System.getLogger("dev.kbx.server");

  private final RunStore store;
  private final Machine machine;
  private final Acceptance acceptance;
  private final OpenRuns runs;
  private final KnownVerdicts verdicts;
  private final Inheritance inheritance;
  private final Backlog backlog;
  private final Feeds feeds;
  private final ServiceMetrics figures;
  private final OutcomeWriter settlements;
  private final Waits waits = new Waits();
  private final int limit;
  private final Set<Thread> judges = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean unsure = new AtomicBoolean();
  private final AtomicBoolean gaveUp = new AtomicBoolean();
  private final AtomicBoolean ticking = new AtomicBoolean();
  private final StoreHealth health;
  private final Health.Condition room;
  private volatile long beat = System.nanoTime();
  private final Thread dispatcher;
  private final ClaimWatch claim;

  /**
   * @param limit candidates that may wait
   * @param room for temporary files, without which workers fail
   */
  JudgingService(
      RunStore store,
      Machine machine,
      int limit,
      Health.Condition room,
      Feeds feeds,
      ServiceMetrics figures) {
    this.store = store;
    this.room = room;
    this.machine = machine;
    this.limit = limit;
    this.feeds = feeds;
    this.figures = figures;
    this.runs =
        new OpenRuns(
            store,
            machine,
            (run, stored, verdict, replaces, known) -> {
              if (replaces) feeds.replaced(run, stored.position());
              else feeds.changed(run);
              figures.verdict(verdict.judgement(), known);
            });
    this.verdicts = new KnownVerdicts(store.service(), machine);
    this.backlog = new Backlog(limit, this::retrySeconds);
    this.health = new StoreHealth(store.service(), up -> backlog.queue().pause(store, !up));
    this.settlements = new OutcomeWriter(store.service(), health);
    this.acceptance =
        new Acceptance(
            store.service(), machine, runs, verdicts, backlog, figures, () -> unsure.set(true));
    this.inheritance = new Inheritance(store, machine, runs);
    adopt(pending());
    figures.watch(backlog.queue()::count, backlog::oldestSeconds, health);
    this.dispatcher = Thread.ofVirtual().name("dispatcher").start(this::dispatch);
    this.claim = new ClaimWatch(store, this::giveUp);
  }

  /** What earlier servers have left queued, unless it was judged when they were stopped. */
  private List<Submission> pending() {
    List<Submission> queued = store.service().queued();
    Map<String, Integer> judged = verdicts.of(queued);
    store
        .service()
        .settle(
            queued.stream()
                .filter(each -> judged.containsKey(each.id()))
                .map(each -> each.done(requireNonNull(judged.get(each.id())), false, null))
                .toList());
    return queued.stream().filter(each -> !judged.containsKey(each.id())).toList();
  }

  private void adopt(List<Submission> queued) {
    Inheritance.Shares shares = inheritance.divide(queued);
    backlog.hold(shares.waiting());
    backlog.adopt(shares.judged());
  }

  /**
   * Another server judges what this one had accepted: it stops judging, and shows what is stored.
   */
  private void giveUp(ClaimLost why) {
    if (!gaveUp.compareAndSet(false, true)) return;
    LOG.log(System.Logger.Level.ERROR, why.getMessage());
    backlog.giveUp(why);
    judges.forEach(Thread::interrupt);
  }

  private int retrySeconds() {
    return figures.secondsFor(Math.max(1, limit / 10));
  }

  /** The id of the run for a client's name of it. */
  String run(String name, Suite suite, Plan plan) {
    return runs.id(name, suite, plan);
  }

  /** A new id, which sorts by time. */
  String nextId(String prefix) {
    return acceptance.nextId(prefix);
  }

  /** Accepts all candidates of a request, or none. */
  List<Submission> accept(Acceptance.Order order, List<Acceptance.Wanted> wanted) {
    return acceptance.accept(order, wanted);
  }

  private void dispatch() {
    long ticked = System.nanoTime() - TICK.toNanos();
    while (!backlog.queue().isClosed()) {
      beat = System.nanoTime();
      try {
        if (beat - ticked >= TICK.toNanos()) {
          ticked = beat;
          startTick();
        }
        Lease<Waiting> next = backlog.take(machine.referee().capacity() + LOOKAHEAD, TICK);
        if (next != null) begin(next);
      } catch (InterruptedException e) {
        // It is closed.
      } catch (Throwable e) { // Without this thread nothing would ever be judged again.
        fault("taking the next candidate failed", e);
        LockSupport.parkNanos(PAUSE_AFTER_FAILURE.toNanos());
      }
    }
  }

  private static void fault(String what, Throwable e) {
    LOG.log(System.Logger.Level.ERROR, what, e);
  }

  /** Unless the last one still waits for the store. */
  private void startTick() {
    if (!ticking.compareAndSet(false, true)) return;
    try {
      Thread.startVirtualThread(() -> {
        try {
          tick();
        } catch (Throwable e) {
          fault("what is due once a second failed", e);
        } finally {
          ticking.set(false);
        }
      });
    } catch (Throwable e) {
      ticking.set(false);
      throw e;
    }
  }

  /** What is due once a second. */
  private void tick() {
    backlog.late(Instant.now()).forEach(this::expire);
    backlog.queue().pause(room, room.missing().isPresent());
    if (backlog.queue().isPaused() && health.missing().isPresent()) return;
    if (!unsure.getAndSet(false)) return;
    boolean sure = false;
    try {
      adoptStored();
      sure = true;
    } catch (ClaimLost e) {
      giveUp(e);
    } catch (StoreProblem e) {
      health.suspect(e);
    } finally {
      if (!sure) unsure.set(true);
    }
  }

  /** Says so if the thread that takes candidates has not come round lately. */
  Optional<String> notAlive() {
    return System.nanoTime() - beat < STUCK.toNanos()
        ? Optional.empty()
        : Optional.of("the dispatcher has stopped");
  }

  /** Says so if nothing more is accepted. */
  Optional<String> notAccepting() {
    if (store.claimLost()) return Optional.of(Refusal.TAKEN_OVER);
    return ready() ? Optional.empty() : Optional.of("the server is being stopped");
  }

  /** Whether the store can be written. */
  StoreHealth store() {
    return health;
  }

  /** Finds what is stored as queued although storing it seemed to fail. */
  private void adoptStored() {
    List<String> unknown =
        store.service().queued().stream()
            .map(Submission::id)
            .filter(id -> !backlog.has(id) && settlements.find(id).isEmpty())
            .toList();
    // Read once more: meanwhile it may have come to its end.
    List<Submission> lost =
        store.service().submissions(unknown).stream()
            .filter(each -> each.state() == Submission.State.QUEUED)
            .toList();
    adopt(lost);
  }

  private void expire(Waiting late) {
    end(
        late,
        late.submission()
            .ended(Submission.State.EXPIRED, "its deadline passed before it was judged"));
  }

  private void begin(Lease<Waiting> next) {
    Thread judge =
        Thread.ofVirtual()
            .name("judge")
            .unstarted(() -> {
              try {
                judge(next);
              } finally {
                judges.remove(Thread.currentThread());
              }
            });
    judges.add(judge);
    try {
      judge.start();
    } catch (Throwable e) {
      judges.remove(judge);
      backlog.putBack(next);
      throw e;
    }
  }

  private void judge(Lease<Waiting> lease) {
    Waiting next = lease.piece();
    Submission submission = next.submission();
    try {
      if (Backlog.isLate(submission, Instant.now())) {
        expire(next);
      } else {
        Task task = task(submission.identity());
        end(next, judged(next, task));
      }
      free(lease);
    } catch (UnknownTask e) {
      end(next, submission.ended(Submission.State.FAILED, e.getMessage()));
      free(lease);
    } catch (InterruptedException e) {
      free(lease); // It is closed: the next start judges it.
    } catch (ClaimLost e) {
      giveUp(e);
      free(lease); // Whoever took the claim judges it.
    } catch (StoreProblem e) {
      if (e.refused() && health.missing().isEmpty()) {
        failed(lease, e);
        return;
      }
      // Says nothing about the candidate, however often it happens.
      figures.again();
      health.suspect(e);
      backlog.putBack(lease);
    } catch (Throwable e) {
      if (room.missing().isEmpty()) {
        failed(lease, e);
        return;
      }
      figures.again();
      backlog.queue().pause(room, true);
      backlog.putBack(lease);
    }
  }

  private Submission judged(Waiting next, Task task) throws InterruptedException {
    Submission submission = next.submission();
    StandingRun run = runs.of(submission.run());
    if (!submission.isTurn()) {
      Placed placed = run.judge(submission, task, verdicts.answerOn(task));
      return submission.done(placed.position(), placed.known(), next.seconds());
    }
    Optional<Referee.Found> found = run.develop(submission, task);
    found.ifPresent(each -> figures.verdict(each.judgement(), each.known()));
    return submission.judged(found.map(Referee.Found::known).orElse(true), next.seconds());
  }

  /** Who follows the run may wait for its last judgement to be over. */
  private void free(Lease<Waiting> taken) {
    backlog.queue().end(taken);
    feeds.changed(taken.piece().submission().run());
  }

  /**
   * The workers failed, or the store is well and refuses this one: it is judged again, after a
   * pause, but not for ever.
   */
  private void failed(Lease<Waiting> lease, Throwable failure) {
    Waiting next = lease.piece();
    if (backlog.queue().isClosed()) {
      free(lease);
      return;
    }
    figures.failure(failure);
    if (next.failed() >= MOST_ATTEMPTS) {
      String why = "could not be judged: " + failure.getMessage();
      end(next, next.submission().ended(Submission.State.FAILED, why));
      free(lease);
      return;
    }
    try {
      Thread.sleep(PAUSE_AFTER_FAILURE);
      backlog.putBack(lease);
    } catch (InterruptedException e) {
      free(lease);
    }
  }

  /** The suite has changed since it was accepted. */
  private static final class UnknownTask extends Exception {
    private static final long serialVersionUID = 1;

    UnknownTask(String message) {
      super(message);
    }
  }

  private Task task(CandidateIdentity identity) throws UnknownTask {
    return machine
        .task(identity.suite(), identity.task())
        .orElseThrow(() ->
            new UnknownTask(
                "%s %s: no such task any more".formatted(identity.suite(), identity.task())));
  }

  private void end(Waiting waited, Submission end) {
    settlements.add(end);
    backlog.remove(waited); // Before anybody is woken, who would still find it waiting.
    waited.ended().complete(end);
    logged(end);
    feeds.changed(end.run());
  }

  private static void logged(Submission end) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("judgement", end.id());
    fields.put("state", end.state().name().toLowerCase(Locale.ROOT));
    fields.put("client", end.client());
    fields.put("run", end.run());
    if (end.outcome().position() != null) fields.put("position", end.outcome().position());
    fields.put("suite", end.identity().suite());
    fields.put("task", end.identity().task());
    fields.put("candidate", end.identity().source());
    fields.put("cached", end.outcome().cached());
    if (end.outcome().waited() != null) fields.put("queued_seconds", end.outcome().waited());
    if (end.outcome().message() != null) fields.put("message", end.outcome().message());
    ServerLog.event("judgement", fields);
  }

  /** Takes a candidate out of the queue; stored when this returns. */
  Submission cancel(Submission submission) {
    Optional<Waiting> waits = backlog.find(submission.id());
    Optional<Runnable> undo = waits.flatMap(backlog::withdraw);
    if (undo.isEmpty()) {
      throw Refusal.of(
          409, "%s: is no longer queued, so it cannot be cancelled".formatted(submission.id()));
    }
    Submission end = submission.ended(Submission.State.CANCELLED, null);
    try {
      store.service().settle(List.of(end));
    } catch (RuntimeException | Error e) {
      undo.get().run();
      throw e;
    }
    end(waits.orElseThrow(), end);
    return end;
  }

  /** What has no verdict yet, of an id. */
  Optional<Waiting> waiting(String id) {
    return backlog.find(id);
  }

  /** What became of one that the store may not show yet. */
  Optional<Submission> settled(String id) {
    return settlements.find(id);
  }

  /** Waits until none of these is waiting, the time is over, or the server is being stopped. */
  void await(List<String> ids, Duration most) throws InterruptedException {
    waits.forAll(ids.stream().flatMap(id -> backlog.find(id).stream()).toList(), most);
  }

  /** Waits until one of these is not waiting, the time is over, or the server is being stopped. */
  void awaitAny(List<String> ids, Duration most) throws InterruptedException {
    List<Waiting> some = ids.stream().flatMap(id -> backlog.find(id).stream()).toList();
    if (some.size() == ids.size()) waits.forAny(some, most);
  }

  /** What has no verdict yet. */
  Backlog backlog() {
    return backlog;
  }

  int limit() {
    return limit;
  }

  boolean ready() {
    return backlog.isOpen();
  }

  /**
   * Accepts nothing more, ends what waits for judgements, and waits for what is being judged, for a
   * limited time.
   */
  void drain(Duration most) throws InterruptedException {
    backlog.refuse();
    endWaits();
    backlog.queue().awaitIdle(most);
  }

  /** Ends the waits of requests and the streams of events, each with the state of now. */
  void endWaits() {
    waits.end();
    feeds.wake();
  }

  @Override
  public void close() {
    claim.close();
    backlog.refuse();
    backlog.queue().close();
    dispatcher.interrupt();
    judges.forEach(Thread::interrupt);
    try {
      backlog.queue().awaitIdle(Duration.ofSeconds(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    settlements.close();
  }
}
