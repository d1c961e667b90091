package dev.kbx.server;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Requests that wait for judgements; all of them can be ended at once. Safe for several threads.
 */
final class Waits {
  /** A client that waits again while the server is being stopped comes no more often than this. */
  private static final Duration SHORT = Duration.ofSeconds(1);

  private final Map<Object, CompletableFuture<Void>> open = new ConcurrentHashMap<>();
  private volatile boolean ending;

  /** Waits for all of these, at most for a time. */
  void forAll(Collection<Waiting> some, Duration most) throws InterruptedException {
    await(
        most,
        (over, end) -> {
          for (Waiting each : some) {
            if (!await(Stream.of(each.ended(), over), end) || over.isDone()) return;
          }
        });
  }

  /** Waits for one of these, at most for a time. */
  void forAny(Collection<Waiting> some, Duration most) throws InterruptedException {
    await(
        most,
        (over, end) -> {
          boolean _ = await(Stream.concat(some.stream().map(Waiting::ended), Stream.of(over)), end);
        });
  }

  /** Ends all waits; later ones are short. */
  void end() {
    ending = true;
    open.values().forEach(over -> over.complete(null));
  }

  private interface Wait {
    void until(CompletableFuture<Void> over, long end) throws InterruptedException;
  }

  private void await(Duration most, Wait wait) throws InterruptedException {
    CompletableFuture<Void> over = new CompletableFuture<>();
    Object place = new Object();
    open.put(place, over);
    try {
      Duration time = ending && most.compareTo(SHORT) > 0 ? SHORT : most;
      wait.until(over, System.nanoTime() + time.toNanos());
    } finally {
      open.remove(place);
      over.complete(null); // What has not ended forgets who waited for it.
    }
  }

  /** Whether one of these ends in time. */
  private static boolean await(Stream<CompletableFuture<?>> some, long end)
      throws InterruptedException {
    long left = end - System.nanoTime();
    if (left <= 0) return false;
    try {
      var _ =
          CompletableFuture.anyOf(some.toArray(CompletableFuture[]::new))
              .get(left, TimeUnit.NANOSECONDS);
      return true;
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }
}
