package dev.kbx.device;

import java.util.concurrent.Semaphore;

/** Lets so many at a time do something, in the order in which they came. */
public final class ConcurrencyLimit {
  private final Semaphore passes;
  private final String waiting;

  /**
   * @param most at the same time
   * @param waiting what waiting is called in a recording of the run
   */
  ConcurrencyLimit(int most, String waiting) {
    this.passes = new Semaphore(most, true);
    this.waiting = waiting;
  }

  /** Ends when it is closed. */
  public interface Pass extends AutoCloseable {
    @Override
    void close();
  }

  /** Waits for its turn. */
  Pass enter() throws InterruptedException {
    try (var _ = Span.of(waiting)) {
      passes.acquire();
    }
    return passes::release;
  }
}
