package dev.kbx.server;

import dev.kbx.judge.WorkQueue;
import dev.kbx.judge.WorkQueue.Lease;
import dev.kbx.store.ClaimLost;
import dev.kbx.store.Submission;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What was accepted and has no verdict yet: what waits or is being judged, what this server cannot
 * judge, and what is being stored before it is accepted.
 *
 * <p>Safe for several threads. Its monitor guards all but the {@link #queue}, which guards itself
 * and may be used under it, and {@link #waiting}.
 */
final class Backlog {
  private final int limit;
  private final IntSupplier retrySeconds;
  private final WorkQueue<Waiting> queue = new WorkQueue<>();

  /** The candidates that this server cannot judge, by id. */
  private final Map<String, Waiting> held = new LinkedHashMap<>();

  /** All but those being stored, by id. */
  private final Map<String, Waiting> waiting = new ConcurrentHashMap<>();

  /** The clients of those being stored, by id. */
  private final Map<String, String> entering = new HashMap<>();

  private boolean draining;
  private @Nullable ClaimLost lost;

  /**
   * @param limit candidates that may wait or be judged; one client may have half of them
   * @param retrySeconds when a refused client may come again
   */
  Backlog(int limit, IntSupplier retrySeconds) {
    this.limit = limit;
    this.retrySeconds = retrySeconds;
  }

  /** What waits and what is being judged: clients take turns, and runs are counted. */
  WorkQueue<Waiting> queue() {
    return queue;
  }

  /** Makes room for submissions of a client that are stored next. Throws {@link Refusal}. */
  synchronized void enter(String client, List<Submission> some) {
    if (lost != null) throw Refusal.claimLost();
    if (draining) throw Refusal.later(503, "the server is being stopped; try again", 5);
    int all = queue.count().open() + entering.size();
    int own = queue.ofOwner(client).open() + Collections.frequency(entering.values(), client);
    if (all + some.size() > limit || own + some.size() > Math.max(1, limit / 2)) {
      throw Refusal.later(
          429,
          "the queue is full: %d are in it, of them %d yours; at most %d and %d; try again later"
              .formatted(all, own, limit, Math.max(1, limit / 2)),
          retrySeconds.getAsInt());
    }
    some.forEach(each -> entering.put(each.id(), client));
  }

  /** Gives up the room. */
  synchronized void leave(List<Submission> some) {
    some.forEach(each -> entering.remove(each.id()));
  }

  /** Adds submissions that are stored and now wait. */
  synchronized void entered(List<Submission> some) {
    leave(some);
    adopt(some);
  }

  /** Submissions of an earlier process, or whose storing seemed to fail. */
  synchronized void adopt(Collection<Submission> some) {
    if (lost == null) add(some, queue::submit);
  }

  /** Submissions of an earlier process that are not judged by this one. */
  synchronized void hold(Collection<Submission> some) {
    add(some, one -> held.put(one.submission().id(), one));
  }

  private void add(Collection<Submission> some, Consumer<Waiting> place) {
    for (Submission one : some) {
      Waiting added = new Waiting(one);
      if (waiting.putIfAbsent(one.id(), added) == null) place.accept(added);
    }
  }

  /** How many there are that this server cannot judge. */
  synchronized int held() {
    return held.size();
  }

  synchronized boolean isHeld(Waiting one) {
    return held.containsKey(one.submission().id());
  }

  /** Whether it waits, is being judged, or is being stored. */
  synchronized boolean has(String id) {
    return waiting.containsKey(id) || entering.containsKey(id);
  }

  Optional<Waiting> find(String id) {
    return Optional.ofNullable(waiting.get(id));
  }

  /**
   * The next to be judged; null if none comes within a time.
   *
   * @param most how many may be judged at a time
   */
  @Nullable Lease<Waiting> take(int most, Duration patience) throws InterruptedException {
    Lease<Waiting> next = queue.lease(0, most, patience);
    if (next != null) next.piece().begin();
    return next;
  }

  /** Puts a candidate back, before all others of its client. */
  void putBack(Lease<Waiting> taken) {
    taken.piece().requeue();
    queue.putBack(taken);
  }

  /** Removes a candidate that has ended. */
  void remove(Waiting ended) {
    waiting.remove(ended.submission().id());
  }

  /**
   * Takes one out of the queue that is not being judged.
   *
   * @return what puts it back; empty if it is being judged
   */
  synchronized Optional<Runnable> withdraw(Waiting queued) {
    if (queue.withdraw(queued)) return Optional.of(() -> queue.submitAgain(queued));
    String id = queued.submission().id();
    return held.remove(id, queued) ? Optional.of(() -> holdAgain(queued)) : Optional.empty();
  }

  private synchronized void holdAgain(Waiting one) {
    held.put(one.submission().id(), one);
  }

  /** Takes out all that waited beyond their deadlines. */
  synchronized List<Waiting> late(Instant now) {
    List<Waiting> late = new ArrayList<>(queue.withdrawAll(each -> isLate(each.submission(), now)));
    held.values().removeIf(each -> isLate(each.submission(), now) && late.add(each));
    return late;
  }

  static boolean isLate(Submission submission, Instant now) {
    Instant deadline = submission.deadline();
    return deadline != null && deadline.isBefore(now);
  }

  /** Seconds that the oldest has waited; 0 if none waits. */
  double oldestSeconds() {
    return queue.heads().stream().mapToDouble(Waiting::seconds).max().orElse(0);
  }

  synchronized boolean isOpen() {
    return !draining;
  }

  /** Nothing more is accepted or taken. */
  synchronized void refuse() {
    draining = true;
    queue.pause(this, true);
  }

  /** Another process has all that waits or is being judged; who waits for it looks in the store. */
  void giveUp(ClaimLost why) {
    synchronized (this) {
      lost = why;
      refuse();
      queue.withdrawAll(_ -> true);
      held.clear();
    }
    List<Waiting> all = List.copyOf(waiting.values());
    waiting.clear();
    all.forEach(each -> each.ended().completeExceptionally(why));
  }
}
