package dev.kbx.cluster;

import static java.util.Objects.requireNonNull;

import dev.kbx.judge.Binaries;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which job is where. A job waits, or has one attempt on one slot; an attempt that is lost with its
 * slot puts it back at the head of the queue, and its second loss ends it. An answer counts only if
 * its attempt is the current one, so that what a lost slot still sends changes nothing.
 *
 * <p>A free slot takes the oldest job of a task that it judged last, then one of a task that no
 * other slot has, then the oldest: what a node keeps for a task is used, and nobody idles for it.
 *
 * <p>What has to wait is meanwhile compiled by slots without a GPU, once, and then waits at the
 * head of the queue with what was compiled.
 *
 * <p>Not safe for threads; knows neither processes nor time.
 */
final class Assignments {
  /** Attempts of a job, each on another slot if there is one. */
  private static final int ATTEMPTS = 2;

  /** Waiting jobs among which a slot looks for one of its tasks. */
  private static final int WINDOW = 64;

  /** Jobs that are compiled ahead, for each that the slots judge at a time. */
  private static final int COMPILED_AHEAD = 2;

  /**
   * What was compiled and waits, in characters; kernels with many configurations take megabytes.
   */
  private static final long MOST_COMPILED = 64 << 20;

  private final Deque<Job> waiting = new ArrayDeque<>();
  private final Map<Integer, Place> places = new LinkedHashMap<>();
  private final Map<Integer, Attempt> running = new HashMap<>();

  /** Slots by the task that they judged last or are judging. */
  private final Map<String, Integer> warm = new HashMap<>();

  private int attempts;
  private long compiledLength;

  /** A slot, with the number of its attempts. */
  private static final class Place {
    private final int capacity;
    private final boolean compiles;
    private int busy;
    private @Nullable Long idleSince;

    Place(int capacity, boolean compiles) {
      this.capacity = capacity;
      this.compiles = compiles;
    }

    int room() {
      return capacity - busy;
    }

    /** Whether it has had nothing to do for so long, as far as those know who have asked. */
    boolean idle(long now, Duration time) {
      if (busy > 0) idleSince = null;
      else if (idleSince == null) idleSince = now;
      return idleSince != null && now - idleSince >= time.toNanos();
    }
  }

  /**
   * An attempt that is to be started on a slot, or runs there.
   *
   * @param compiles whether it is only to compile
   * @param message makes its message; not kept while it runs, since it holds what was compiled
   */
  record Attempt(
      int id,
      int slot,
      Job job,
      long start,
      boolean compiles,
      Supplier<NodeMessage.Request> message) {
    private Attempt sent() {
      Supplier<NodeMessage.Request> gone =
          () -> {
            throw new IllegalStateException("sent before");
          };
      return new Attempt(id, slot, job, start, compiles, gone);
    }

    boolean overdue(long now) {
      return now - start > job.limit().toNanos();
    }
  }

  void add(Job job) {
    waiting.addLast(job);
  }

  /** Forgets a job whose asker is gone. */
  void cancel(Job job) {
    if (waiting.remove(job)) return;
    running.values().stream()
        .filter(attempt -> attempt.job() == job)
        .findFirst()
        .ifPresent(attempt -> answered(attempt.id()));
  }

  /** A slot that judges, with the number of candidates that it has at a time. */
  void up(int slot, int capacity) {
    places.put(slot, new Place(capacity, false));
  }

  /** A slot that compiles. */
  void compiles(int slot, int capacity) {
    places.put(slot, new Place(capacity, true));
  }

  /**
   * A slot is gone, and its attempts with it.
   *
   * @param how for the story of a job that is not tried again
   */
  void down(int slot, String how) {
    if (places.remove(slot) == null) return;
    warm.values().removeIf(owner -> owner == slot);
    List<Attempt> lost = running.values().stream().filter(a -> a.slot() == slot).toList();
    for (Attempt attempt : lost) failed(attempt.id(), how);
  }

  /** An attempt had no result. One that was only to compile costs its job nothing. */
  void failed(int id, String how) {
    Attempt attempt = running.get(id);
    Optional<Job> job = answered(id);
    if (attempt == null || job.isEmpty()) return;
    if (attempt.compiles()) waiting.addFirst(job.get());
    else failed(job.get(), how);
  }

  private void failed(Job job, String how) {
    job.lost(how);
    if (job.losses().size() < ATTEMPTS) waiting.addFirst(job);
    else job.answer().completeExceptionally(new Abandoned(story(job)));
  }

  private static String story(Job job) {
    return "given up after %d attempts: %s"
        .formatted(job.losses().size(), String.join("; then ", job.losses()));
  }

  /** The job of an attempt that now has an answer; empty for an attempt that was lost before. */
  Optional<Job> answered(int id) {
    Attempt attempt = running.remove(id);
    if (attempt == null) return Optional.empty();
    Place place = places.get(attempt.slot());
    if (place != null) place.busy--;
    return Optional.of(attempt.job());
  }

  /** An attempt to compile a job has ended: the job waits again, ahead of the rest. */
  void compiled(int id, @Nullable Binaries binaries) {
    answered(id)
        .ifPresent(job -> {
          long length = length(binaries);
          if (compiledLength + length <= MOST_COMPILED) {
            job.compiled(binaries);
            compiledLength += length;
          }
          waiting.addFirst(job);
        });
  }

  private static long length(@Nullable Binaries binaries) {
    return binaries == null
        ? 0
        : binaries.files().values().stream().mapToLong(String::length).sum();
  }

  /**
   * Assigns waiting jobs to free slots, those with the most room first.
   *
   * @param now in nanoseconds
   * @return attempts to start
   */
  List<Attempt> assign(long now) {
    List<Attempt> started = new ArrayList<>();
    while (!waiting.isEmpty()) {
      Integer slot = freest(false);
      if (slot == null) break;
      Job job = take(slot);
      warm.put(job.task(), slot);
      Binaries compiled = job.takeCompiled();
      compiledLength -= length(compiled);
      started.add(started(slot, job, now, false, id -> job.request(id, compiled)));
    }
    compile(now, started);
    return started;
  }

  private Attempt started(
      int slot, Job job, long now, boolean compiles, IntFunction<NodeMessage.Request> message) {
    Place place = requireNonNull(places.get(slot));
    place.busy++;
    place.idleSince = null;
    int id = ++attempts;
    Attempt attempt = new Attempt(id, slot, job, now, compiles, () -> message.apply(id));
    running.put(id, attempt.sent());
    return attempt;
  }

  private void compile(long now, List<Attempt> started) {
    Integer slot = freest(true);
    int most = COMPILED_AHEAD * capacity();
    int looked = (int) running.values().stream().filter(Attempt::compiles).count();
    for (Iterator<Job> jobs = waiting.iterator();
        slot != null && jobs.hasNext() && looked < most;
        looked++) {
      Job job = jobs.next();
      IntFunction<NodeMessage.Request> compiling = job.takeCompiling();
      if (compiling == null) continue;
      jobs.remove();
      started.add(started(slot, job, now, true, compiling));
      slot = freest(true);
    }
  }

  private @Nullable Integer freest(boolean compiles) {
    Integer slot = null;
    Place found = null;
    for (Map.Entry<Integer, Place> each : places.entrySet()) {
      Place place = each.getValue();
      if (place.compiles == compiles && place.room() > (found == null ? 0 : found.room())) {
        slot = each.getKey();
        found = place;
      }
    }
    return slot;
  }

  private Job take(int slot) {
    Job unowned = null;
    int looked = 0;
    for (Iterator<Job> jobs = waiting.iterator(); jobs.hasNext() && looked < WINDOW; looked++) {
      Job job = jobs.next();
      Integer owner = warm.get(job.task());
      if (owner != null && owner == slot) {
        jobs.remove();
        return job;
      }
      if (owner == null && unowned == null) unowned = job;
    }
    if (unowned == null) return waiting.removeFirst();
    waiting.removeFirstOccurrence(unowned);
    return unowned;
  }

  /** Slots with an attempt that takes longer than its job allows. */
  List<Integer> overdue(long now) {
    return running.values().stream()
        .filter(attempt -> attempt.overdue(now))
        .map(Attempt::slot)
        .distinct()
        .toList();
  }

  /** Slots that were idle at all calls of this for so long; none while a job waits. */
  List<Integer> idle(long now, Duration time) {
    List<Integer> idle =
        places.entrySet().stream()
            .filter(each -> each.getValue().idle(now, time))
            .map(Map.Entry::getKey)
            .toList();
    return waiting.isEmpty() ? idle : List.of();
  }

  /** All slots are gone through no fault of what they judged: it waits again, ahead of the rest. */
  void restart() {
    running.values().forEach(attempt -> waiting.addFirst(attempt.job()));
    running.clear();
    places.clear();
    warm.clear();
  }

  /** Ends all jobs: nobody will answer them. */
  List<Job> drain() {
    List<Job> all = new ArrayList<>(waiting);
    running.values().forEach(attempt -> all.add(attempt.job()));
    waiting.clear();
    running.clear();
    return all;
  }

  int waiting() {
    return waiting.size();
  }

  /** Jobs without an answer. */
  int open() {
    return waiting.size() + running.size();
  }

  /** Slots that judge. */
  int slots() {
    return (int) places.values().stream().filter(place -> !place.compiles).count();
  }

  /** Jobs that all slots that judge can have at a time. */
  int capacity() {
    return places.values().stream()
        .filter(place -> !place.compiles)
        .mapToInt(place -> place.capacity)
        .sum();
  }
}
