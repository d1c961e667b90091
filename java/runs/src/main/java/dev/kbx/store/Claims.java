package dev.kbx.store;

import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * What one store has claimed. A lock that ends with the connection keeps others away; an epoch,
 * which each taking of a claim increases, tells whether others came while the connection was lost.
 * Each transaction that writes checks the epochs, so that nothing is written under a claim that
 * another process has taken, however late its former owner notices.
 *
 * <p>Used under the store's lock, but for {@link #lost}.
 */
final class Claims {
  /** A server takes a moment to notice that the process that had the claim was killed. */
  private static final int TRIES = 20;

  /** Number of tries for a connection of this process, while all that use the store wait. */
  private static final int TRIES_AGAIN = 4;

  private static final Duration PAUSE = Duration.ofMillis(250);

  /** One statement, so that two who take a claim at a time get two epochs. */
  private static final String NEXT =
      "INSERT INTO claim (name, epoch) VALUES (:name, 1)"
          + " ON CONFLICT (name) DO UPDATE SET epoch = claim.epoch + 1 RETURNING epoch";

  private final Database database;
  private final Map<String, Long> epochs = new LinkedHashMap<>();
  private volatile @Nullable String lost;

  Claims(Database database) {
    this.database = database;
  }

  /** Takes a claim. Throws {@link StoreProblem} if another process has it. */
  void take(Handle handle, String name) {
    if (!locked(handle, name, TRIES)) {
      throw new StoreProblem(
          database.label(),
          name.equals(ServiceStore.CLAIM)
              ? "another kbx serve judges what is accepted there; stop it, or give another --store"
              : "run %s is being judged by another kbx; wait for it".formatted(name));
    }
    epochs.put(name, handle.createQuery(NEXT).bind("name", name).mapTo(Long.class).one());
  }

  /**
   * Takes all claims again, over a new connection that nothing is written over yet. A claim that
   * another process has taken meanwhile is lost. Throws {@link StoreProblem} if the lock of one is
   * not free, although nobody has taken it: the server still holds it for the connection before.
   */
  void takeAgain(Handle handle) {
    if (!isOwn(handle, "")) return;
    for (String name : epochs.keySet()) {
      if (!locked(handle, name, TRIES_AGAIN)) {
        throw new StoreProblem(
            database.label(), "the connection was lost, and its claim is not free yet; try again");
      }
    }
    boolean _ = isOwn(handle, "");
  }

  private boolean locked(Handle handle, String name, int tries) {
    try {
      for (int i = 0; i < tries; i++) {
        if (database.claim(handle.getConnection(), name)) return true;
        TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
      }
    } catch (SQLException e) {
      throw new StoreProblem(database.label(), database.reason(e), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /**
   * Begins a transaction that writes: what is claimed stays so until it ends. Throws {@link
   * ClaimLost}.
   */
  void begin(Handle transaction) {
    if (epochs.isEmpty()) return;
    database.lockClaims(transaction);
    if (!isOwn(transaction, database.share())) throw problem();
  }

  /** Throws {@link ClaimLost} if a claim is not this store's any more. */
  void check(Handle handle) {
    if (!isOwn(handle, "")) throw problem();
  }

  private boolean isOwn(Handle handle, String lock) {
    if (lost != null) return false;
    if (epochs.isEmpty()) return true;
    Map<String, Long> now =
        handle
            .createQuery("SELECT name, epoch FROM claim WHERE name IN (<names>)" + lock)
            .bindList("names", epochs.keySet())
            .map((row, _) -> Map.entry(row.getString(1), row.getLong(2)))
            .collectToMap(Map.Entry::getKey, Map.Entry::getValue);
    for (var own : epochs.entrySet()) {
      if (Objects.equals(now.get(own.getKey()), own.getValue())) continue;
      lost = own.getKey();
      return false;
    }
    return true;
  }

  private ClaimLost problem() {
    String name = String.valueOf(lost);
    return new ClaimLost(
        database.label(),
        name.equals(ServiceStore.CLAIM)
            ? "another kbx serve has taken over; this one judges and accepts nothing more"
            : "run %s was taken over by another kbx; this one writes nothing more".formatted(name));
  }

  /** Whether a claim is lost, as far as was seen. */
  boolean lost() {
    return lost != null;
  }
}
