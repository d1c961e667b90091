package dev.kbx.device;

import static java.util.Objects.requireNonNull;

import dev.kbx.worker.WorkerFailure;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A process that is started on first use and restarted after it has ended. Threads that ask during
 * a start wait for that start without holding a lock.
 */
final class OnDemand<P> implements AutoCloseable {
  private final Start<P> start;
  private final Predicate<P> alive;
  private final Consumer<P> end;
  private final AtomicReference<@Nullable CompletableFuture<P>> current = new AtomicReference<>();
  private volatile boolean closed;

  /** Starts the process. */
  interface Start<P> {
    P start() throws InterruptedException;
  }

  OnDemand(Start<P> start, Predicate<P> alive, Consumer<P> end) {
    this.start = start;
    this.alive = alive;
    this.end = end;
  }

  /** The process; started if it has not been, or has ended. */
  P get() throws InterruptedException {
    while (true) {
      CompletableFuture<P> asked = current.get();
      if (asked == null || isOver(asked)) {
        CompletableFuture<P> own = new CompletableFuture<>();
        if (!current.compareAndSet(asked, own)) continue;
        if (asked != null) end(asked);
        return start(own);
      }
      try {
        return asked.get();
      } catch (ExecutionException e) {
        if (e.getCause() instanceof WorkerFailure failure) throw failure;
        // The thread that was starting it was interrupted: start it here.
      }
    }
  }

  private boolean isOver(CompletableFuture<P> asked) {
    return asked.isCompletedExceptionally()
        || (asked.isDone() && !alive.test(requireNonNull(asked.join())));
  }

  private P start(CompletableFuture<P> own) throws InterruptedException {
    try {
      if (closed) throw new WorkerFailure("the workers were closed");
      P started = start.start();
      own.complete(started);
      if (closed) end.accept(started);
      return started;
    } catch (InterruptedException | RuntimeException | Error e) {
      own.completeExceptionally(e);
      throw e;
    }
  }

  /** Ends the process; the next {@link #get} starts a new one. */
  void reset() {
    CompletableFuture<P> asked = current.getAndSet(null);
    if (asked != null) end(asked);
  }

  /** Waits for a start in progress, then ends the process. */
  private void end(CompletableFuture<P> asked) {
    try {
      end.accept(asked.join());
    } catch (CompletionException e) {
      // It never started.
    }
  }

  /** Ends the process for good. */
  @Override
  public void close() {
    closed = true;
    reset();
  }
}
