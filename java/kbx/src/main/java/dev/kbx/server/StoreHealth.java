package dev.kbx.server;

import dev.kbx.store.ServiceStore;
import dev.kbx.store.StoreProblem;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Whether the store can be written, found out by writing to it. Asked for by many, it is probed at
 * most once a second; while it does not answer nobody waits for it for long. Safe for several
 * threads.
 */
final class StoreHealth {
  private static final System.Logger LOG = System.getLogger("dev.kbx.server");
  private static final long FRESH = TimeUnit.SECONDS.toNanos(1);
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final ServiceStore store;
  private final Consumer<Boolean> listener;
  private @Nullable CompletableFuture<Optional<String>> probe;
  private Optional<String> missing = Optional.empty();
  private long seen = System.nanoTime() - FRESH;

  /**
   * @param listener told whether it can be written, after each probe and each failure
   */
  StoreHealth(ServiceStore store, Consumer<Boolean> listener) {
    this.store = store;
    this.listener = listener;
  }

  /** What is missing, in words; empty if it can be written. */
  Optional<String> missing() {
    CompletableFuture<Optional<String>> running;
    synchronized (this) {
      if (System.nanoTime() - seen < FRESH) return missing;
      running = probe;
      if (running == null) running = start();
    }
    try {
      return running.get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      return found(Optional.of("the store does not answer"));
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of("the store was not asked: the server is being stopped");
    }
  }

  /** Something failed that may be the store's fault: it is away until a probe finds it well. */
  void suspect(StoreProblem problem) {
    if (problem.refused()) return;
    Optional<String> _ = found(Optional.of("the store cannot be used: " + problem.getMessage()));
    synchronized (this) {
      seen = System.nanoTime() - FRESH;
    }
  }

  private CompletableFuture<Optional<String>> start() {
    CompletableFuture<Optional<String>> started = new CompletableFuture<>();
    probe = started;
    var _ =
        Thread.ofVirtual()
            .name("probe")
            .start(() -> {
              Optional<String> now = probed();
              synchronized (this) {
                probe = null;
              }
              started.complete(found(now));
            });
    return started;
  }

  private Optional<String> probed() {
    try {
      store.probe();
      return Optional.empty();
    } catch (Throwable e) { // Whatever it is, it cannot be written.
      return Optional.of("the store cannot be written: " + e.getMessage());
    }
  }

  private Optional<String> found(Optional<String> now) {
    synchronized (this) {
      if (now.isPresent() && missing.isEmpty()) {
        LOG.log(System.Logger.Level.WARNING, now.get() + "; what was accepted waits");
      }
      if (now.isEmpty() && missing.isPresent()) {
        LOG.log(System.Logger.Level.WARNING, "the store can be written again; judging goes on");
      }
      missing = now;
      seen = System.nanoTime();
    }
    listener.accept(now.isEmpty());
    return now;
  }
}
