package dev.kbx.server;

import dev.kbx.store.ClaimLost;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.StoreProblem;
import dev.kbx.store.Submission;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Writes what became of submissions, many at a time. A verdict is in the store before; so if the
 * process is killed before this is written, the next start finds it.
 */
final class OutcomeWriter implements AutoCloseable {
  private static final long PAUSE_MILLIS = 100;

  private static final System.Logger LOG = System.getLogger("dev.kbx.server");

  private final ServiceStore store;
  private final StoreHealth health;
  private final Map<String, Submission> unwritten = new LinkedHashMap<>();
  private final Thread writer;
  private boolean closed;

  OutcomeWriter(ServiceStore store, StoreHealth health) {
    this.store = store;
    this.health = health;
    this.writer = Thread.ofVirtual().name("settlements").start(this::run);
  }

  synchronized void add(Submission end) {
    unwritten.put(end.id(), end);
  }

  synchronized Optional<Submission> find(String id) {
    return Optional.ofNullable(unwritten.get(id));
  }

  private void run() {
    while (write()) {
      try {
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      } catch (InterruptedException e) {
        // It is closed.
      }
    }
  }

  /** False when it is closed. */
  private boolean write() {
    List<Submission> some;
    boolean last;
    synchronized (this) {
      some = new ArrayList<>(unwritten.values());
      last = closed;
    }
    try {
      if (!settle(some)) some.forEach(this::settleAlone);
    } catch (ClaimLost e) {
      // The next owner knows by the verdicts which are done.
      synchronized (this) {
        unwritten.clear();
      }
      return false;
    } catch (StoreProblem e) {
      health.suspect(e); // The next time has it.
    } catch (Throwable e) { // Without this thread nothing would ever be settled again.
      LOG.log(System.Logger.Level.ERROR, "storing what became of candidates failed", e);
    }
    return !last;
  }

  /** False if the store is well and refuses one of them. */
  private boolean settle(List<Submission> some) {
    try {
      store.settle(some);
    } catch (StoreProblem e) {
      if (e.refused()) return false;
      throw e;
    }
    written(some);
    return true;
  }

  private void settleAlone(Submission one) {
    if (settle(List.of(one))) return;
    LOG.log(System.Logger.Level.ERROR, one.id() + ": the store refuses what became of it");
    written(List.of(one)); // The next start judges it.
  }

  private synchronized void written(List<Submission> some) {
    some.forEach(each -> unwritten.remove(each.id(), each));
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    writer.interrupt();
    try {
      boolean _ = writer.join(java.time.Duration.ofSeconds(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
