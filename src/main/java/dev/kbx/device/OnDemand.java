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
 * A process that is started when it is first asked for, and again when it has ended. Whoever asks
 * while it starts waits for the same start; nobody holds a lock meanwhile.
 */
final class OnDemand<P> implements AutoCloseable {
  private final Start<P> start;
  private final Predicate<P> alive;
  private final Consumer<P> end;
  private final AtomicReference<@Nullable CompletableFuture<P>> current = new AtomicReference<>();
  private volatile boolean closed;

  /** How one is started. */
  interface Start<P> {
    P start() throws InterruptedException;
  }

  OnDemand(Start<P> start, Predicate<P> alive, Consumer<P> end) {
    this.start = start;
    this.alive = alive;
    this.end = end;
  }

  /** The process, alive as far as is known. */
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
        // Whoever was starting it was interrupted: somebody else does it.
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

  /** Ends the process, so that the next who asks gets another. */
  void reset() {
    CompletableFuture<P> asked = current.getAndSet(null);
    if (asked != null) end(asked);
  }

  /** Waits for a start that is under way. */
  private void end(CompletableFuture<P> asked) {
    try {
      end.accept(asked.join());
    } catch (CompletionException e) {
      // It was never there.
    }
  }

  /** Ends the process; there will be no other. */
  @Override
  public void close() {
    closed = true;
    reset();
  }
}
