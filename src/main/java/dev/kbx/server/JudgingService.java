package dev.kbx.server;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.Source;
import dev.kbx.plan.Plan;
import dev.kbx.run.RunService;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore.Audit;
import dev.kbx.store.Stored;
import dev.kbx.store.Submission;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.Judgement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Accepts candidates, and judges each of them once: what is accepted is in the store before the
 * client hears of it, and a new start goes on with what has no verdict. Safe for several threads.
 */
final class JudgingService implements AutoCloseable {
  /** Candidates handed to runs beyond those being judged, so that no slot waits for the queue. */
  private static final int LOOKAHEAD = 4;

  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
  private static final Duration TICK = Duration.ofSeconds(1);
  private static final int MOST_ATTEMPTS = 5;

  private final RunStore store;
  private final Machine machine;
  private final int limit;
  private final OpenRuns runs;
  private final Feeds feeds;
  private final Figures figures;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final FairQueue queue = new FairQueue();

  /** All that have no verdict, by id. */
  private final Map<String, Waiting> waiting = new ConcurrentHashMap<>();

  private final Map<String, Integer> attempts = new HashMap<>();
  private final Map<String, Integer> judgingByClient = new HashMap<>();
  private final Settlements settlements;
  private final AtomicLong lastId = new AtomicLong();
  private final Thread dispatcher;
  private int judging;
  private boolean draining;
  private boolean stopped;

  JudgingService(RunStore store, Machine machine, int limit, Feeds feeds, Figures figures) {
    this.store = store;
    this.machine = machine;
    this.limit = limit;
    this.feeds = feeds;
    this.figures = figures;
    this.settlements = new Settlements(store.service());
    this.runs =
        new OpenRuns(
            store,
            machine,
            (stored, verdict) -> {
              feeds.verdict(verdict.run(), stored);
              figures.verdict(verdict);
            });
    for (Submission each : store.service().pending()) {
      Waiting again = new Waiting(each);
      waiting.put(each.id(), again);
      queue.add(again);
    }
    figures.watch(this::queued, this::judging, this::oldestSeconds);
    this.dispatcher = Thread.ofVirtual().name("dispatcher").start(this::dispatch);
  }

  /** A candidate of a request. */
  record Wanted(Candidate candidate, @Nullable String key) {}

  /**
   * Accepts all candidates of a request, or none.
   *
   * @param name of the client's run
   * @param deadline null for none
   */
  List<Submission> accept(
      String client,
      List<Wanted> wanted,
      String name,
      Plan plan,
      int priority,
      @Nullable Instant deadline) {
    List<Submission> fresh = new ArrayList<>();
    Map<String, String> sources = new LinkedHashMap<>();
    Map<String, Submission> keys = new HashMap<>();
    List<Submission> answer = new ArrayList<>();
    Instant now = Instant.now();
    for (int i = 0; i < wanted.size(); i++) {
      Candidate candidate = wanted.get(i).candidate().held();
      CandidateIdentity identity = candidate.identity();
      Suite suite = machine.suite(identity.suite()).orElseThrow();
      String run = runs.id(name, suite, plan);
      String key = wanted.get(i).key();
      Optional<Submission> earlier =
          key == null
              ? Optional.empty()
              : Optional.ofNullable(keys.get(key)).or(() -> store.service().keyed(client, key));
      if (earlier.isPresent()) {
        if (!earlier.get().identity().equals(identity)) {
          throw Refusal.of(
              409,
              "candidates[%d].key: '%s' was used for another candidate; give each its own"
                  .formatted(i, Plans.cut(String.valueOf(key))));
        }
        answer.add(earlier.get());
        continue;
      }
      Optional<Stored> verdict = store.service().verdict(run, identity);
      boolean cached = verdict.isPresent() || machine.referee().remembers(candidate, plan);
      Submission submission =
          new Submission(
              nextId(),
              client,
              key,
              run,
              identity,
              candidate.conditions(),
              candidate.origin(),
              priority,
              now,
              deadline,
              Submission.State.QUEUED,
              null,
              cached,
              null,
              null);
      if (verdict.isPresent()) submission = submission.done(verdict.get().position(), 0.0);
      if (key != null) keys.put(key, submission);
      fresh.add(submission);
      answer.add(submission);
      sources.put(identity.source(), candidate.code());
    }
    store(client, fresh, sources, now);
    return answer;
  }

  private void store(
      String client, List<Submission> fresh, Map<String, String> sources, Instant now) {
    if (fresh.isEmpty()) return;
    List<Waiting> queued =
        fresh.stream()
            .filter(each -> each.state() == Submission.State.QUEUED)
            .map(Waiting::new)
            .toList();
    reserve(client, queued.size());
    try {
      store
          .service()
          .accept(
              fresh,
              sources,
              new Audit(now, client, "submit", fresh.size() + " into " + fresh.getFirst().run()));
    } catch (RuntimeException | Error e) {
      release(client, queued.size());
      throw e;
    }
    figures.accepted(fresh.size());
    lock.lock();
    try {
      reserved.merge(client, -queued.size(), Integer::sum);
      reservedAll -= queued.size();
      for (Waiting each : queued) {
        waiting.put(each.submission().id(), each);
        queue.add(each);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private final Map<String, Integer> reserved = new HashMap<>();
  private int reservedAll;

  /** Half of the queue is the most that one client may have. */
  private void reserve(String client, int count) {
    lock.lock();
    try {
      if (draining) throw Refusal.later(503, "the server is being stopped; try again", 5);
      int own = queue.size(client) + reserved.getOrDefault(client, 0);
      if (queue.size() + reservedAll + count > limit || own + count > Math.max(1, limit / 2)) {
        throw Refusal.later(
            429,
            "the queue is full: %d wait, of them %d yours; try again later"
                .formatted(queue.size() + reservedAll, own),
            figures.secondsFor(Math.max(1, queue.size() / 10)));
      }
      reserved.merge(client, count, Integer::sum);
      reservedAll += count;
    } finally {
      lock.unlock();
    }
  }

  private void release(String client, int count) {
    lock.lock();
    try {
      reserved.merge(client, -count, Integer::sum);
      reservedAll -= count;
    } finally {
      lock.unlock();
    }
  }

  /** Ids sort by time; the last characters keep those of several servers apart. */
  private String nextId() {
    long now = System.currentTimeMillis() << 20;
    long number = lastId.updateAndGet(last -> Math.max(last + 1, now));
    String digits = Long.toString(number, Character.MAX_RADIX);
    return "j_" + "0".repeat(Math.max(0, 13 - digits.length())) + digits;
  }

  private void dispatch() {
    Instant nextTick = Instant.now();
    while (true) {
      Waiting next = null;
      lock.lock();
      try {
        if (stopped) return;
        boolean room = !draining && judging < machine.referee().capacity() + LOOKAHEAD;
        next = room ? queue.poll() : null;
        if (next == null) {
          boolean _ = changed.await(TICK.toMillis(), java.util.concurrent.TimeUnit.MILLISECONDS);
        } else {
          judging++;
          judgingByClient.merge(next.submission().client(), 1, Integer::sum);
          next.begin();
        }
      } catch (InterruptedException e) {
        return;
      } finally {
        lock.unlock();
      }
      if (!Instant.now().isBefore(nextTick)) {
        nextTick = Instant.now().plus(TICK);
        expire();
      }
      if (next != null) judge(next);
    }
  }

  /** Ends what waits beyond its deadline. */
  private void expire() {
    Instant now = Instant.now();
    List<Waiting> late;
    lock.lock();
    try {
      late = queue.removeAll(each -> isLate(each.submission(), now));
    } finally {
      lock.unlock();
    }
    late.forEach(this::expire);
  }

  private static boolean isLate(Submission submission, Instant now) {
    Instant deadline = submission.deadline();
    return deadline != null && deadline.isBefore(now);
  }

  private void expire(Waiting late) {
    end(
        late,
        late.submission()
            .ended(Submission.State.EXPIRED, "its deadline passed before it was judged"));
  }

  private void judge(Waiting next) {
    Submission submission = next.submission();
    if (isLate(submission, Instant.now())) {
      free(next);
      expire(next);
      return;
    }
    RunService service = null;
    try {
      Candidate candidate = candidate(submission);
      service = runs.service(submission.run());
      RunService used = service;
      CompletableFuture<Judgement> judgement = service.submit(candidate);
      var _ =
          judgement.whenComplete(
              (_, failure) -> Thread.startVirtualThread(() -> judged(next, used, failure)));
    } catch (UnknownTask e) {
      free(next);
      end(next, submission.ended(Submission.State.FAILED, e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      judged(next, service, e);
    }
  }

  /** The suite has changed since it was accepted. */
  private static final class UnknownTask extends Exception {
    private static final long serialVersionUID = 1;

    UnknownTask(String message) {
      super(message);
    }
  }

  private Candidate candidate(Submission submission) throws UnknownTask {
    CandidateIdentity identity = submission.identity();
    Task task =
        machine.suite(identity.suite()).stream()
            .flatMap(suite -> suite.tasks().stream())
            .filter(each -> each.path().equals(identity.task()))
            .findFirst()
            .orElseThrow(() ->
                new UnknownTask(
                    "%s %s: no such task any more".formatted(identity.suite(), identity.task())));
    String code = store.source(identity.source()).orElseThrow();
    return new Candidate(
        task,
        new Source.Text(code),
        submission.origin(),
        identity.sample(),
        identity.method(),
        identity.model(),
        identity.round(),
        submission.conditions());
  }

  private void judged(Waiting next, @Nullable RunService service, @Nullable Throwable failure) {
    Submission submission = next.submission();
    try {
      if (failure == null) {
        Stored stored =
            store.service().verdict(submission.run(), submission.identity()).orElseThrow();
        free(next);
        end(next, submission.done(stored.position(), next.seconds()));
        return;
      }
    } catch (RuntimeException e) {
      failure = e;
    }
    if (service != null) runs.drop(submission.run(), service);
    again(next, failure);
  }

  /** The store or the workers failed: it is judged again, after a pause, but not for ever. */
  private void again(Waiting next, Throwable failure) {
    Submission submission = next.submission();
    boolean counts = !(failure instanceof CancellationException);
    int tries;
    lock.lock();
    try {
      tries = attempts.merge(submission.id(), counts ? 1 : 0, Integer::sum);
      if (stopped) return;
    } finally {
      lock.unlock();
    }
    if (counts) figures.failure(failure);
    if (tries >= MOST_ATTEMPTS) {
      free(next);
      end(
          next,
          submission.ended(
              Submission.State.FAILED, "could not be judged: " + failure.getMessage()));
      return;
    }
    try {
      Thread.sleep(PAUSE_AFTER_FAILURE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    lock.lock();
    try {
      next.requeue();
      queue.putBack(next);
    } finally {
      lock.unlock();
    }
    free(next);
  }

  private void free(Waiting next) {
    lock.lock();
    try {
      judging--;
      judgingByClient.merge(next.submission().client(), -1, Integer::sum);
      judgingByClient.values().removeIf(count -> count == 0);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void end(Waiting waited, Submission end) {
    settlements.add(end);
    waited.ended().complete(end);
    waiting.remove(end.id());
    lock.lock();
    try {
      attempts.remove(end.id());
    } finally {
      lock.unlock();
    }
    feeds.changed(end.run());
  }

  /** Takes a candidate out of the queue; stored when this returns. */
  Submission cancel(Submission submission) {
    Waiting waits = waiting.get(submission.id());
    boolean removed = false;
    lock.lock();
    try {
      removed = waits != null && queue.remove(waits);
    } finally {
      lock.unlock();
    }
    if (!removed || waits == null) {
      throw Refusal.of(
          409, "%s: is no longer queued, so it cannot be cancelled".formatted(submission.id()));
    }
    Submission end = submission.ended(Submission.State.CANCELLED, null);
    store.service().settle(List.of(end));
    end(waits, end);
    return end;
  }

  /** What has no verdict yet, of an id. */
  Optional<Waiting> waiting(String id) {
    return Optional.ofNullable(waiting.get(id));
  }

  /** What became of one that the store may not show yet. */
  Optional<Submission> settled(String id) {
    return settlements.find(id);
  }

  /** Waits until none of these is waiting, or the time is over. */
  void await(List<String> ids, Duration most) throws InterruptedException {
    long end = System.nanoTime() + most.toNanos();
    for (String id : ids) {
      Waiting waits = waiting.get(id);
      if (waits == null) continue;
      long left = end - System.nanoTime();
      if (left <= 0) return;
      try {
        var _ = waits.ended().get(left, java.util.concurrent.TimeUnit.NANOSECONDS);
      } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
        return;
      }
    }
  }

  int ahead(Waiting waits) {
    lock.lock();
    try {
      return queue.ahead(waits);
    } finally {
      lock.unlock();
    }
  }

  int queued() {
    lock.lock();
    try {
      return queue.size();
    } finally {
      lock.unlock();
    }
  }

  int judging() {
    lock.lock();
    try {
      return judging;
    } finally {
      lock.unlock();
    }
  }

  int limit() {
    return limit;
  }

  /** Number of queued ones by client. */
  Map<String, Integer> queuedByClient() {
    lock.lock();
    try {
      return queue.sizes();
    } finally {
      lock.unlock();
    }
  }

  Map<String, Integer> judgingByClient() {
    lock.lock();
    try {
      return Map.copyOf(judgingByClient);
    } finally {
      lock.unlock();
    }
  }

  /** Of the oldest that waits; 0 if none does. */
  double oldestSeconds() {
    return waiting.values().stream()
        .filter(each -> !each.judging())
        .mapToDouble(Waiting::seconds)
        .max()
        .orElse(0);
  }

  /** How many of a run are queued and being judged. */
  int[] openIn(String run) {
    int[] counts = new int[2];
    for (Waiting each : waiting.values()) {
      if (each.submission().run().equals(run)) counts[each.judging() ? 1 : 0]++;
    }
    return counts;
  }

  boolean ready() {
    lock.lock();
    try {
      return !draining;
    } finally {
      lock.unlock();
    }
  }

  /** Accepts nothing more, and waits for what is being judged, for a limited time. */
  void drain(Duration most) throws InterruptedException {
    long end = System.nanoTime() + most.toNanos();
    lock.lock();
    try {
      draining = true;
      changed.signalAll();
      while (judging > 0) {
        long left = end - System.nanoTime();
        if (left <= 0) return;
        long _ = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      draining = true;
      stopped = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    dispatcher.interrupt();
    runs.close();
    settlements.close();
  }
}
