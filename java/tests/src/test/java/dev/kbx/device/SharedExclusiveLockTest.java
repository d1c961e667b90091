package dev.kbx.device;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nobody uses a device while somebody has it alone, and everybody gets his turn. */
@Timeout(Patience.SECONDS)
class SharedExclusiveLockTest {

  private final List<Thread> threads = new ArrayList<>();

  private Thread start(InterruptedAction body) {
    Thread thread =
        Thread.ofVirtual()
            .start(() -> {
              try {
                body.run();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    threads.add(thread);
    return thread;
  }

  private interface InterruptedAction {
    void run() throws InterruptedException;
  }

  private void join() throws InterruptedException {
    for (Thread thread : threads) thread.join();
  }

  private static void waiting(Thread thread) throws InterruptedException {
    while (thread.getState() != Thread.State.WAITING) Thread.sleep(1);
  }

  @Test
  void exclusiveRequestsNeverOverlap() throws Exception {
    SharedExclusiveLock lease = new SharedExclusiveLock(3, Duration.ofMillis(1));
    AtomicInteger sharing = new AtomicInteger();
    AtomicInteger alone = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<String> faults = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 16; i++) {
      start(() -> {
        for (int round = 0; round < 50; round++) {
          try (var _ = lease.shared()) {
            most.accumulateAndGet(sharing.incrementAndGet(), Math::max);
            if (alone.get() != 0) faults.add("shared beside one who is alone");
            Thread.sleep(0, ThreadLocalRandom.current().nextInt(200_000));
            sharing.decrementAndGet();
          }
          try (var _ = lease.alone()) {
            if (alone.incrementAndGet() != 1 || sharing.get() != 0) faults.add("not alone");
            Thread.sleep(0, 50_000);
            alone.decrementAndGet();
          }
        }
      });
    }
    join();
    assertThat(faults).isEmpty();
    assertThat(most.get()).as("at the same time").isGreaterThan(1);
  }

  @Test
  void newSharersWaitOnceTwoExclusiveRequestsWait() throws Exception {
    SharedExclusiveLock lease = new SharedExclusiveLock(2, Patience.LIMIT);
    var shared = lease.shared();
    Thread first = start(() -> lease.alone().close());
    waiting(first);
    lease.shared().close(); // One who waits does not keep the others out,
    Thread second = start(() -> lease.alone().close());
    waiting(second);
    Thread late = start(() -> lease.shared().close());
    waiting(late); // two do.
    shared.close();
    join();
  }

  @Test
  void newSharersWaitOnceAnExclusiveRequestsPatienceEnds() throws Exception {
    SharedExclusiveLock lease = new SharedExclusiveLock(100, Duration.ofMillis(20));
    var shared = lease.shared();
    Thread alone = start(() -> lease.alone().close());
    waiting(alone);
    Thread.sleep(30);
    Thread late = start(() -> lease.shared().close());
    waiting(late);
    shared.close();
    join();
  }

  @Test
  void gatheredExclusiveRequestsRunOneAfterAnother() throws Exception {
    SharedExclusiveLock lease = new SharedExclusiveLock(2, Patience.LIMIT);
    var shared = lease.shared();
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch go = new CountDownLatch(1);
    for (int i = 0; i < 2; i++) {
      waiting(
          start(() -> {
            try (var _ = lease.alone()) {
              go.await();
              order.add("alone");
            }
          }));
    }
    waiting(
        start(() -> {
          try (var _ = lease.shared()) {
            order.add("shared");
          }
        }));
    shared.close();
    go.countDown();
    join();
    assertThat(order).containsExactly("alone", "alone", "shared");
  }

  @Test
  void sharedLeaseRemembersConcurrentHolders() throws Exception {
    SharedExclusiveLock lease = new SharedExclusiveLock(1, Patience.LIMIT);
    var first = lease.shared();
    assertThat(first.company()).isFalse();
    var second = lease.shared();
    second.close();
    assertThat(first.company()).isTrue();
    assertThat(second.company()).isTrue();
    first.close();
    try (var third = lease.shared()) {
      assertThat(third.company()).isFalse();
    }
    try (var alone = lease.alone()) {
      assertThat(alone.company()).isFalse();
    }
  }

  @Test
  void interruptedExclusiveRequestBlocksNobody() throws Exception {
    SharedExclusiveLock lease = new SharedExclusiveLock(1, Duration.ZERO);
    var shared = lease.shared();
    Thread alone = start(() -> lease.alone().close());
    waiting(alone);
    Thread late = start(() -> lease.shared().close());
    waiting(late);
    alone.interrupt();
    late.join();
    shared.close();
    join();
  }

  @Test
  void sharedRequestsFillTheCapacity() throws Exception {
    SharedExclusiveLock lease = new SharedExclusiveLock(100, Patience.LIMIT);
    var first = lease.shared(0.5);
    var second = lease.shared(0.3);
    CountDownLatch entered = new CountDownLatch(1);
    Thread third =
        start(() -> {
          try (var _ = lease.shared(0.3)) {
            entered.countDown();
          }
        });
    waiting(third);
    second.close();
    entered.await();
    first.close();
    join();
  }

  @Test
  void largeSharedRequestIsNotOvertakenBySmallOnes() throws Exception {
    SharedExclusiveLock lease = new SharedExclusiveLock(100, Patience.LIMIT);
    var first = lease.shared(0.2);
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    waiting(
        start(() -> {
          try (var _ = lease.shared(0.8)) {
            order.add("much");
          }
        }));
    waiting(
        start(() -> {
          try (var _ = lease.shared(0.1)) {
            order.add("little");
          }
        }));
    first.close();
    join();
    assertThat(order).containsExactly("much", "little");
  }

  @Test
  void sharedRequestAboveCapacityExcludesOthers() throws Exception {
    SharedExclusiveLock lease = new SharedExclusiveLock(100, Patience.LIMIT);
    var whole = lease.shared(1.5);
    Thread other = start(() -> lease.shared(0.01).close());
    waiting(other);
    assertThat(whole.company()).isFalse();
    lease.shared().close(); // What does not count is let in.
    whole.close();
    join();
  }
}
