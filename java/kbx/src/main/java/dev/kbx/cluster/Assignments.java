package dev.kbx.cluster;

import static java.util.Objects.requireNonNull;

import dev.kbx.judge.Binaries;
import dev.kbx.judge.WorkQueue;
import dev.kbx.judge.WorkQueue.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
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

  private final WorkQueue<Job> jobs = new WorkQueue<>();
  private final Map<Integer, Place> places = new LinkedHashMap<>();

  /** Slots by the task that they judged last or are judging. */
  private final Map<String, Integer> warm = new HashMap<>();

  private long compiledLength;

  /** A slot. */
  private static final class Place {
    private final int capacity;
    private final boolean compiles;

    /** Since when it has been idle, as far as those know who have asked; null if it is not. */
    private @Nullable Long idleSince;

    Place(int capacity, boolean compiles) {
      this.capacity = capacity;
      this.compiles = compiles;
    }
  }

  /**
   * An attempt that is to be started on a slot.
   *
   * @param compiles whether it is only to compile
   * @param message makes its message; holds what was compiled
   */
  record Attempt(Lease<Job> lease, boolean compiles, Supplier<NodeMessage.Request> message) {
    int id() {
      return lease.id();
    }

    int slot() {
      return lease.holder();
    }

    Job job() {
      return lease.piece();
    }
  }

  void add(Job job) {
    jobs.submit(job);
  }

  /** Forgets a job whose asker is gone. */
  void cancel(Job job) {
    if (jobs.withdraw(job)) return;
    jobs.leases().stream().filter(lease -> lease.piece() == job).forEach(jobs::end);
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
    if (!places.containsKey(slot)) return;
    jobs.leases(slot).reversed().forEach(lost -> failed(lost, how));
    places.remove(slot);
    warm.values().removeIf(owner -> owner == slot);
  }

  /** An attempt had no result. One that was only to compile costs its job nothing. */
  void failed(int id, String how) {
    jobs.lease(id).ifPresent(lease -> failed(lease, how));
  }

  private void failed(Lease<Job> lease, String how) {
    Job job = lease.piece();
    if (!place(lease).compiles) job.lost(how);
    if (job.losses().size() < ATTEMPTS) {
      jobs.putBack(lease);
    } else {
      jobs.end(lease);
      job.answer().completeExceptionally(new Job.Abandoned(story(job)));
    }
  }

  private Place place(Lease<Job> lease) {
    return requireNonNull(places.get(lease.holder()));
  }

  private static String story(Job job) {
    return "given up after %d attempts: %s"
        .formatted(job.losses().size(), String.join("; then ", job.losses()));
  }

  /** The job of an attempt that now has an answer; empty for an attempt that was lost before. */
  Optional<Job> answered(int id) {
    return jobs.lease(id).filter(jobs::end).map(Lease::piece);
  }

  /** An attempt to compile a job has ended: the job waits again, ahead of the rest. */
  void compiled(int id, @Nullable Binaries binaries) {
    jobs.lease(id)
        .ifPresent(lease -> {
          long length = length(binaries);
          if (compiledLength + length <= MOST_COMPILED) {
            lease.piece().compiled(binaries);
            compiledLength += length;
          }
          jobs.putBack(lease);
        });
  }

  private static long length(@Nullable Binaries binaries) {
    return binaries == null ? 0 : binaries.compiled().length();
  }

  /**
   * Assigns waiting jobs to free slots, those with the most room first.
   *
   * @param now in nanoseconds
   * @return attempts to start
   */
  List<Attempt> assign(long now) {
    List<Attempt> started = new ArrayList<>();
    for (Integer slot = freest(false); slot != null; slot = freest(false)) {
      int to = slot;
      Lease<Job> lease = jobs.lease(to, now, waiting -> choose(to, waiting));
      if (lease == null) break;
      Job job = lease.piece();
      warm.put(job.task(), to);
      Binaries compiled = job.takeCompiled();
      compiledLength -= length(compiled);
      started.add(started(lease, () -> job.request(lease.id(), compiled)));
    }
    for (Integer slot = freest(true); slot != null; slot = freest(true)) {
      int ahead = Math.max(0, COMPILED_AHEAD * capacity() - busy(true));
      Lease<Job> lease =
          jobs.lease(
              slot, now, waiting -> waiting.limit(ahead).filter(Job::compilable).findFirst());
      if (lease == null) break;
      IntFunction<NodeMessage.Request> message = lease.piece().takeCompiling();
      started.add(started(lease, () -> message.apply(lease.id())));
    }
    return started;
  }

  private Attempt started(Lease<Job> lease, Supplier<NodeMessage.Request> message) {
    Place place = place(lease);
    place.idleSince = null;
    return new Attempt(lease, place.compiles, message);
  }

  private @Nullable Integer freest(boolean compiles) {
    Integer slot = null;
    int most = 0;
    for (Map.Entry<Integer, Place> each : places.entrySet()) {
      int room = each.getValue().capacity - jobs.held(each.getKey());
      if (each.getValue().compiles == compiles && room > most) {
        slot = each.getKey();
        most = room;
      }
    }
    return slot;
  }

  private Optional<Job> choose(int slot, Stream<Job> waiting) {
    Job first = null;
    Job unowned = null;
    for (Job job : waiting.limit(WINDOW).toList()) {
      Integer owner = warm.get(job.task());
      if (owner != null && owner == slot) return Optional.of(job);
      if (owner == null && unowned == null) unowned = job;
      if (first == null) first = job;
    }
    return Optional.ofNullable(unowned != null ? unowned : first);
  }

  /** Slots with an attempt that takes longer than its job allows. */
  List<Integer> overdue(long now) {
    return jobs.leases().stream()
        .filter(lease -> now - lease.since() > lease.piece().limit().toNanos())
        .map(Lease::holder)
        .distinct()
        .toList();
  }

  /** Slots that were idle at all calls of this for so long; none while a job waits. */
  List<Integer> idle(long now, Duration time) {
    List<Integer> idle = new ArrayList<>();
    places.forEach((slot, place) -> {
      if (jobs.held(slot) > 0) place.idleSince = null;
      else if (place.idleSince == null) place.idleSince = now;
      if (place.idleSince != null && now - place.idleSince >= time.toNanos()) idle.add(slot);
    });
    return waiting() == 0 ? idle : List.of();
  }

  /** All slots are gone through no fault of what they judged: it waits again, ahead of the rest. */
  void restart() {
    jobs.leases().reversed().forEach(jobs::putBack);
    places.clear();
    warm.clear();
  }

  /** Ends all jobs: nobody will answer them. */
  List<Job> drain() {
    List<Job> all = new ArrayList<>(jobs.withdrawAll(_ -> true));
    jobs.leases().stream().filter(jobs::end).map(Lease::piece).forEach(all::add);
    return all;
  }

  int waiting() {
    return jobs.count().waiting();
  }

  /** Jobs without an answer. */
  int open() {
    return jobs.count().open();
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

  /** Attempts on slots that compile, or on those that judge. */
  private int busy(boolean compiling) {
    return places.entrySet().stream()
        .filter(each -> each.getValue().compiles == compiling)
        .mapToInt(each -> jobs.held(each.getKey()))
        .sum();
  }
}
