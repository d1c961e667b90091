package dev.kbx.device;

import java.util.concurrent.Semaphore;

/** Limits how many threads do something at a time; first come, first served. */
public final class ConcurrencyLimit {
  private final Semaphore passes;
  private final String waiting;

  /**
   * @param most number of threads
   * @param waiting name of the wait in a flight recording
   */
  ConcurrencyLimit(int most, String waiting) {
    this.passes = new Semaphore(most, true);
    this.waiting = waiting;
  }

  /** Permission; released when closed. */
  public interface Pass extends AutoCloseable {
    @Override
    void close();
  }

  /** Waits until a permission is free. */
  Pass enter() throws InterruptedException {
    try (var _ = Span.of(waiting)) {
      passes.acquire();
    }
    return passes::release;
  }
}
