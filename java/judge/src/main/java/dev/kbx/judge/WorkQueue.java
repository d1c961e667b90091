package dev.kbx.judge;

import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Work that waits, and leases on the work that is being done. A piece waits, or has one lease, or
 * is not in the queue. A lease is over when its holder has {@linkplain #end ended} it or when the
 * piece was {@linkplain #putBack put back} because the holder is lost; whatever comes after the
 * first of these changes nothing.
 *
 * <p>Pieces go by priority, then one of each owner in turn, then by age.
 *
 * <p>Safe for several threads.
 */
public final class WorkQueue<P extends WorkQueue.Piece> {
  /** By priority, highest first; in it by owner, whose turn it is first; in it by number. */
  private final TreeMap<Integer, LinkedHashMap<String, TreeMap<Long, P>>> levels =
      new TreeMap<>(Comparator.reverseOrder());

  private final Map<Integer, Lease<P>> leases = new LinkedHashMap<>();
  private final Map<Integer, Set<Lease<P>>> holders = new HashMap<>();
  private final Map<String, Count> owners = new HashMap<>();
  private final Map<String, Count> groups = new HashMap<>();
  private final Set<Object> pausedBy = new HashSet<>();
  private Count all = Count.NONE;
  private int granted;
  private boolean closed;

  /** A piece of work. What it says of itself does not change while it is in a queue. */
  public abstract static class Piece {
    /** The place among pieces of the same owner and priority; guarded by the queue. */
    long number;

    /** Whether it is in a queue; guarded by that. */
    boolean queued;

    /** The priority; the highest goes first. */
    protected int priority() {
      return 0;
    }

    /** The owner of the piece. */
    protected String owner() {
      return "";
    }

    /** What it is counted by besides its owner. */
    protected String group() {
      return "";
    }
  }

  /**
   * The right to do a piece of work, until it is over.
   *
   * @param id different for each lease of a queue
   * @param holder number of the place where the work is done
   * @param since when it began, in nanoseconds
   */
  public record Lease<P>(int id, int holder, P piece, long since) {}

  /** Numbers of pieces that wait and that have a lease. */
  public record Count(int waiting, int leased) {
    static final Count NONE = new Count(0, 0);

    private Count plus(Count other) {
      return new Count(waiting + other.waiting, leased + other.leased);
    }

    /** The number of all open pieces. */
    public int open() {
      return waiting + leased;
    }
  }

  /** Adds a piece: it waits behind the others of its owner and priority. */
  public synchronized void submit(P piece) {
    add(piece, false);
  }

  /** Adds a piece that was {@linkplain #withdraw withdrawn}, ahead of the others of its owner. */
  public synchronized void submitAgain(P piece) {
    add(piece, true);
  }

  private void add(P piece, boolean ahead) {
    if (piece.queued) throw new IllegalStateException(piece + ": is in a queue already");
    piece.queued = true;
    wait(piece, ahead);
    count(piece, 1, 0);
  }

  private void wait(P piece, boolean ahead) {
    TreeMap<Long, P> line =
        levels
            .computeIfAbsent(piece.priority(), _ -> new LinkedHashMap<>())
            .computeIfAbsent(piece.owner(), _ -> new TreeMap<>());
    if (line.isEmpty()) piece.number = 0;
    else piece.number = ahead ? line.firstKey() - 1 : line.lastKey() + 1;
    line.put(piece.number, piece);
    notifyAll();
  }

  /**
   * Takes a piece out of its line; false if it does not wait.
   *
   * @param turn whether that is its owner's turn
   */
  private boolean remove(P piece, boolean turn) {
    var turns = levels.get(piece.priority());
    TreeMap<Long, P> line = turns == null ? null : turns.get(piece.owner());
    if (turns == null || line == null || !line.remove(piece.number, piece)) return false;
    if (line.isEmpty()) turns.remove(piece.owner());
    else if (turn) turns.putLast(piece.owner(), line);
    if (turns.isEmpty()) levels.remove(piece.priority());
    return true;
  }

  /**
   * Leases the first piece; waits until there is one, the queue is not paused, and fewer than
   * {@code most} leases are open.
   *
   * @return null if the time is over before, or the queue is closed
   */
  public synchronized @Nullable Lease<P> lease(int holder, int most, Duration patience)
      throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (!closed) {
      Lease<P> lease =
          leases.size() < most ? lease(holder, System.nanoTime(), Stream::findFirst) : null;
      long left = end - System.nanoTime();
      if (lease != null || left <= 0) return lease;
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    return null;
  }

  /**
   * Leases the piece that is chosen, for what the holder can do; does not wait.
   *
   * @param now in nanoseconds
   * @param choice among the pieces that wait, by priority, owner and age; does not use the queue
   * @return null if none is chosen, or the queue is paused or closed
   */
  public synchronized @Nullable Lease<P> lease(
      int holder, long now, Function<Stream<P>, Optional<P>> choice) {
    P piece = closed || !pausedBy.isEmpty() ? null : choice.apply(waiting()).orElse(null);
    if (piece == null || !remove(piece, true)) return null;
    Lease<P> lease = new Lease<>(++granted, holder, piece, now);
    leases.put(lease.id(), lease);
    holders.computeIfAbsent(holder, _ -> new LinkedHashSet<>()).add(lease);
    count(piece, -1, 1);
    return lease;
  }

  private Stream<P> waiting() {
    return levels.values().stream()
        .flatMap(turns -> turns.values().stream())
        .flatMap(line -> line.values().stream());
  }

  /** Ends a lease: its piece is done, and no longer here. False if it was over before. */
  public synchronized boolean end(Lease<P> lease) {
    if (!over(lease)) return false;
    lease.piece().queued = false;
    count(lease.piece(), 0, -1);
    return true;
  }

  /**
   * Ends a lease whose work was not done: its piece waits again, ahead of the others of its owner.
   * False if it was over before.
   */
  public synchronized boolean putBack(Lease<P> lease) {
    if (!over(lease)) return false;
    wait(lease.piece(), true);
    count(lease.piece(), 1, -1);
    return true;
  }

  private boolean over(Lease<P> lease) {
    if (!leases.remove(lease.id(), lease)) return false;
    holders.computeIfPresent(
        lease.holder(), (_, held) -> held.remove(lease) && held.isEmpty() ? null : held);
    notifyAll();
    return true;
  }

  /** Takes out a piece that waits; false if it does not. */
  public synchronized boolean withdraw(P piece) {
    if (!remove(piece, false)) return false;
    piece.queued = false;
    count(piece, -1, 0);
    return true;
  }

  /** Takes out all pieces that wait and match. */
  public synchronized List<P> withdrawAll(Predicate<P> which) {
    List<P> found = waiting().filter(which).toList();
    found.forEach(this::withdraw);
    return found;
  }

  /** An open lease. */
  public synchronized Optional<Lease<P>> lease(int id) {
    return Optional.ofNullable(leases.get(id));
  }

  /** All open leases, the oldest first. */
  public synchronized List<Lease<P>> leases() {
    return List.copyOf(leases.values());
  }

  /** Open leases of a holder, the oldest first. */
  public synchronized List<Lease<P>> leases(int holder) {
    return List.copyOf(holders.getOrDefault(holder, Set.of()));
  }

  /** Number of open leases of a holder. */
  public synchronized int held(int holder) {
    return holders.getOrDefault(holder, Set.of()).size();
  }

  /** Nothing is leased as long as anybody pauses it. */
  public synchronized void pause(Object by, boolean now) {
    boolean _ = now ? pausedBy.add(by) : pausedBy.remove(by);
    notifyAll();
  }

  /** Whether anybody pauses it. */
  public synchronized boolean isPaused() {
    return !pausedBy.isEmpty();
  }

  /** Nothing is leased any more, and nobody waits to. Open leases go on. */
  public synchronized void close() {
    closed = true;
    notifyAll();
  }

  /** Whether it is closed. */
  public synchronized boolean isClosed() {
    return closed;
  }

  /** Waits until no lease is open, or the time is over. */
  public synchronized void awaitIdle(Duration most) throws InterruptedException {
    long end = System.nanoTime() + most.toNanos();
    for (long left = most.toNanos(); !leases.isEmpty() && left > 0; left = end - System.nanoTime())
      TimeUnit.NANOSECONDS.timedWait(this, left);
  }

  /**
   * How many pieces are leased before this one if none is added; exact but for changing turns and
   * for pieces that were withdrawn.
   */
  public synchronized int ahead(P piece) {
    TreeMap<Long, P> own =
        levels.getOrDefault(piece.priority(), new LinkedHashMap<>()).get(piece.owner());
    long place = own == null ? 0 : Math.max(0, piece.number - own.firstKey());
    long ahead = 0;
    for (var level : levels.headMap(piece.priority(), true).entrySet()) {
      boolean above = level.getKey() > piece.priority();
      for (TreeMap<Long, P> line : level.getValue().values()) {
        ahead += above ? line.size() : Math.min(line.size(), place);
      }
    }
    return Math.toIntExact(ahead);
  }

  /** The pieces that have waited longest, of each owner and priority. */
  public synchronized List<P> heads() {
    return levels.values().stream()
        .map(LinkedHashMap::values)
        .flatMap(Collection::stream)
        .map(line -> line.firstEntry().getValue())
        .toList();
  }

  private void count(P piece, int waiting, int leased) {
    Count change = new Count(waiting, leased);
    all = all.plus(change);
    owners.merge(piece.owner(), change, WorkQueue::sum);
    groups.merge(piece.group(), change, WorkQueue::sum);
  }

  private static @Nullable Count sum(Count one, Count other) {
    Count sum = one.plus(other);
    return sum.equals(Count.NONE) ? null : sum;
  }

  /** Numbers of all pieces. */
  public synchronized Count count() {
    return all;
  }

  /** Numbers of pieces by owner; an owner of none is absent. */
  public synchronized Map<String, Count> byOwner() {
    return Map.copyOf(owners);
  }

  /** Numbers of an owner's pieces. */
  public synchronized Count ofOwner(String owner) {
    return owners.getOrDefault(owner, Count.NONE);
  }

  /** Numbers of a group's pieces. */
  public synchronized Count ofGroup(String group) {
    return groups.getOrDefault(group, Count.NONE);
  }
}
