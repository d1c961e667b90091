package dev.kbx.server;

import dev.kbx.store.ClaimLost;
import dev.kbx.store.Submission;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What was accepted and has no verdict yet: what waits, what is being judged, and what is being
 * stored before it is accepted. Safe for several threads.
 */
final class Backlog {
  private final int limit;
  private final IntSupplier retrySeconds;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final FairQueue queue = new FairQueue();

  /** Those that this server cannot judge, by id. */
  private final Map<String, Waiting> held = new LinkedHashMap<>();

  /** Those that wait and those being judged, by id. */
  private final Map<String, Waiting> waiting = new ConcurrentHashMap<>();

  private final Counts judgingByClient = new Counts();
  private final Counts judgingByRun = new Counts();
  private final Counts enteringByClient = new Counts();
  private final Set<String> entering = new HashSet<>();
  private int judging;
  private boolean draining;
  private boolean stopped;
  private @Nullable ClaimLost lost;
  private final Set<Object> pausedBy = new HashSet<>();

  /**
   * @param limit candidates that may wait or be judged; one client may have half of them
   * @param retrySeconds when a refused client may come again
   */
  Backlog(int limit, IntSupplier retrySeconds) {
    this.limit = limit;
    this.retrySeconds = retrySeconds;
  }

  private <T> T locked(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  private void change(Runnable work) {
    lock.lock();
    try {
      work.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Makes room for submissions of a client that are stored next. Throws {@link Refusal}. */
  void enter(String client, List<Submission> some) {
    change(() -> {
      if (lost != null) throw Refusal.claimLost();
      if (draining) throw Refusal.later(503, "the server is being stopped; try again", 5);
      int all = queue.size() + judging + entering.size();
      int own = queue.size(client) + judgingByClient.of(client) + enteringByClient.of(client);
      if (all + some.size() > limit || own + some.size() > Math.max(1, limit / 2)) {
        throw Refusal.later(
            429,
            "the queue is full: %d are in it, of them %d yours; at most %d and %d; try again later"
                .formatted(all, own, limit, Math.max(1, limit / 2)),
            retrySeconds.getAsInt());
      }
      enteringByClient.add(client, some.size());
      some.forEach(each -> entering.add(each.id()));
    });
  }

  /** Gives up the room. */
  void leave(String client, List<Submission> some) {
    change(() -> left(client, some));
  }

  private void left(String client, List<Submission> some) {
    enteringByClient.add(client, -some.size());
    some.forEach(each -> entering.remove(each.id()));
  }

  /** They are stored, and now wait. */
  void entered(String client, List<Submission> some) {
    change(() -> {
      left(client, some);
      some.forEach(this::append);
    });
  }

  /** Submissions of an earlier process, or whose storing seemed to fail. */
  void adopt(Collection<Submission> some) {
    change(() -> some.forEach(this::append));
  }

  /** Submissions of an earlier process that are not judged by this one. */
  void hold(Collection<Submission> some) {
    change(() ->
        some.forEach(one -> {
          Waiting added = new Waiting(one);
          if (waiting.putIfAbsent(one.id(), added) == null) held.put(one.id(), added);
        }));
  }

  /** How many there are that this server cannot judge. */
  int held() {
    return locked(held::size);
  }

  boolean isHeld(Waiting one) {
    return locked(() -> held.containsKey(one.submission().id()));
  }

  private void append(Submission one) {
    if (lost != null) return;
    Waiting added = new Waiting(one);
    if (waiting.putIfAbsent(one.id(), added) == null) queue.add(added);
  }

  /** Whether it waits, is being judged, or is being stored. */
  boolean has(String id) {
    return locked(() -> waiting.containsKey(id) || entering.contains(id));
  }

  /**
   * The next to be judged; null if none comes within a time.
   *
   * @param most how many may be judged at a time
   */
  @Nullable Waiting take(int most, Duration patience) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long end = System.nanoTime() + patience.toNanos();
      while (true) {
        long now = System.nanoTime();
        boolean may = !draining && pausedBy.isEmpty() && judging < most;
        Waiting next = may ? queue.poll() : null;
        if (next != null) {
          begin(next);
          return next;
        }
        long left = end - now;
        if (left <= 0) return null;
        long _ = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  private void begin(Waiting next) {
    judging++;
    judgingByClient.add(next.submission().client(), 1);
    judgingByRun.add(next.submission().run(), 1);
    next.begin();
  }

  /** It is no longer being judged. */
  void free(Waiting taken) {
    change(() -> freed(taken));
  }

  private void freed(Waiting taken) {
    judging--;
    judgingByClient.add(taken.submission().client(), -1);
    judgingByRun.add(taken.submission().run(), -1);
  }

  /** It waits again, before all others of its client. */
  void putBack(Waiting taken) {
    change(() -> {
      freed(taken);
      taken.requeue();
      queue.putBack(taken);
    });
  }

  /** Nothing is taken as long as anybody pauses it. */
  void pause(Object by, boolean now) {
    change(() -> {
      boolean _ = now ? pausedBy.add(by) : pausedBy.remove(by);
    });
  }

  /** It has ended. */
  void remove(Waiting ended) {
    waiting.remove(ended.submission().id());
  }

  /**
   * Takes one out of the queue that is not being judged.
   *
   * @return what puts it back; empty if it is being judged
   */
  Optional<Runnable> withdraw(Waiting queued) {
    return locked(() -> {
      if (queue.remove(queued)) return Optional.of(() -> change(() -> queue.putBack(queued)));
      String id = queued.submission().id();
      return held.remove(id, queued)
          ? Optional.of(() -> change(() -> held.put(id, queued)))
          : Optional.empty();
    });
  }

  /** Takes out all that waited beyond their deadlines. */
  List<Waiting> late(Instant now) {
    return locked(() -> {
      List<Waiting> late = queue.removeAll(each -> isLate(each.submission(), now));
      for (Waiting each : List.copyOf(held.values())) {
        if (isLate(each.submission(), now) && held.remove(each.submission().id(), each))
          late.add(each);
      }
      return late;
    });
  }

  static boolean isLate(Submission submission, Instant now) {
    Instant deadline = submission.deadline();
    return deadline != null && deadline.isBefore(now);
  }

  Optional<Waiting> find(String id) {
    return Optional.ofNullable(waiting.get(id));
  }

  int ahead(Waiting queued) {
    return locked(() -> queue.ahead(queued));
  }

  int queued() {
    return locked(queue::size);
  }

  int judging() {
    return locked(() -> judging);
  }

  Map<String, Integer> queuedByClient() {
    return locked(queue::sizes);
  }

  Map<String, Integer> judgingByClient() {
    return locked(judgingByClient::all);
  }

  /** Of the oldest that waits; 0 if none does. */
  double oldestSeconds() {
    return locked(queue::oldestSeconds);
  }

  /** How many of a run are queued and being judged. */
  int[] openIn(String run) {
    return locked(() -> new int[] {queue.sizeOfRun(run), judgingByRun.of(run)});
  }

  boolean isOpen() {
    return locked(() -> !draining);
  }

  boolean isPaused() {
    return locked(() -> !pausedBy.isEmpty());
  }

  boolean isStopped() {
    return locked(() -> stopped);
  }

  /** Nothing more is accepted or taken. */
  void refuse() {
    change(() -> draining = true);
  }

  /** The same; waits until nothing is being judged, or the time is over. */
  void drain(Duration most) throws InterruptedException {
    refuse();
    await(() -> judging == 0, most);
  }

  private void await(BooleanSupplier condition, Duration most) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long end = System.nanoTime() + most.toNanos();
      while (!condition.getAsBoolean()) {
        long left = end - System.nanoTime();
        if (left <= 0) return;
        long _ = changed.await(left, TimeUnit.NANOSECONDS) ? 1 : 0;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Another process has all that waits or is being judged; who waits for it looks in the store. */
  void giveUp(ClaimLost why) {
    change(() -> {
      lost = why;
      draining = true;
      List<Waiting> _ = queue.removeAll(_ -> true);
      held.clear();
    });
    List<Waiting> all = List.copyOf(waiting.values());
    waiting.clear();
    all.forEach(each -> each.ended().completeExceptionally(why));
  }

  void stop() {
    change(() -> {
      draining = true;
      stopped = true;
    });
  }
}
