package dev.kbx.server;

import dev.kbx.store.ClaimLost;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreProblem;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Asks the store once a second whether this server still has its claim: a server that nobody sends
 * anything to writes nothing, and so would not notice.
 */
final class ClaimWatch implements AutoCloseable {
  private final RunStore store;
  private final Consumer<ClaimLost> lost;
  private final CountDownLatch closed = new CountDownLatch(1);

  /**
   * @param lost called once, when the claim is lost
   */
  ClaimWatch(RunStore store, Consumer<ClaimLost> lost) {
    this.store = store;
    this.lost = lost;
    var _ = Thread.ofVirtual().name("claim").start(this::watch);
  }

  private void watch() {
    try {
      while (!closed.await(1, TimeUnit.SECONDS)) {
        try {
          store.checkClaims();
        } catch (ClaimLost e) {
          lost.accept(e);
          return;
        } catch (StoreProblem e) {
          // It does not answer; when it does, the claim is taken again, or lost.
        }
      }
    } catch (InterruptedException e) {
      // Nobody interrupts it: that could close the connection under a write of another thread.
    }
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
