package dev.kbx.server;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Ends what a client holds up: a thread that is interrupted while it reads or writes a socket loses
 * the socket. Safe for several threads.
 */
final class Interrupts implements AutoCloseable {
  /** For a client's next bytes, or for it to take some: the web server would wait for ever. */
  static final Duration PATIENCE = Duration.ofSeconds(20);

  private final ScheduledThreadPoolExecutor timer;

  Interrupts() {
    timer =
        new ScheduledThreadPoolExecutor(
            1, work -> Thread.ofPlatform().daemon().name("interrupts").unstarted(work));
    timer.setRemoveOnCancelPolicy(true); // Most are cancelled soon, and they hold their threads.
  }

  /** Does a short work later, unless it is cancelled. */
  Future<?> after(Duration time, Runnable work) {
    return timer.schedule(work, time.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Interrupts this thread after {@link #PATIENCE}, unless that is cancelled. */
  Future<?> soon() {
    return after(PATIENCE, Thread.currentThread()::interrupt);
  }

  /** Does work that is interrupted if the client holds it up. */
  void within(Runnable work) {
    Future<?> timeout = soon();
    try {
      work.run();
    } finally {
      timeout.cancel(false);
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
