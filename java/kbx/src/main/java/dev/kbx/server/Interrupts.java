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

  /** Takes something from a client. */
  interface Reading<T, E extends Exception> {
    T read() throws E;
  }

  /**
   * Takes something from a client, interrupted after {@link #PATIENCE} if the client holds it up.
   */
  <T, E extends Exception> T read(Reading<T, E> reading) throws E {
    Future<?> timeout = after(PATIENCE, Thread.currentThread()::interrupt);
    try {
      return reading.read();
    } finally {
      timeout.cancel(false);
    }
  }

  /** Does work for a client, interrupted after {@link #PATIENCE} if the client holds it up. */
  void within(Runnable work) {
    boolean _ =
        read(() -> {
          work.run();
          return true;
        });
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
