package dev.kbx.device;

import static dev.kbx.device.Defaults.SHARED_PART;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The lock of a device: shared by many for untimed work, exclusive for timing.
 *
 * <p>Each shared user states the part of the device that it takes; users are admitted in order of
 * arrival while their parts fit. So a large user is not starved by many small ones.
 *
 * <p>Exclusive use is batched, since each switch costs time. The device stays shared until {@code
 * gather} threads wait for exclusive use, or the first has waited for {@code patience}. Then no
 * shared user is admitted until all of them have had their turn.
 */
public final class SharedExclusiveLock {
  private final int gather;
  private final long patienceNanos;
  private final ReentrantLock lock = new ReentrantLock(true);
  private final Condition changed = lock.newCondition();
  private final Set<Share> sharing = new HashSet<>();
  private final Deque<Share> queue = new ArrayDeque<>();
  private boolean taken;
  private int waiting;
  private long waitingSince;

  /** Whether shared users are held up while exclusive ones take their turns. */
  private boolean closed;

  SharedExclusiveLock(int gather, Duration patience) {
    this.gather = gather;
    this.patienceNanos = patience.toNanos();
  }

  /** Use of the device, until closed. */
  public interface Held extends AutoCloseable {
    /** Whether somebody else used the device at any time during this use. */
    boolean company();

    @Override
    void close();
  }

  /** Waits until nobody holds the device exclusively. */
  Held shared() throws InterruptedException {
    return shared(0);
  }

  /**
   * Waits until nobody holds the device exclusively and there is room.
   *
   * @param part part of the device that will be taken; 0 if negligible. A part over 1 excludes all
   *     other parts above 0.
   */
  public Held shared(double part) throws InterruptedException {
    try (var _ = Span.of("wait shared")) {
      return share(part);
    }
  }

  private Held share(double part) throws InterruptedException {
    lock.lockInterruptibly();
    Share share = new Share(part);
    if (part > 0) queue.add(share);
    try {
      while (taken || closing() || !hasRoom(share)) changed.await();
      sharing.add(share);
      if (sharing.size() > 1) sharing.forEach(each -> each.company = true);
      return share;
    } finally {
      queue.remove(share);
      changed.signalAll();
      lock.unlock();
    }
  }

  private boolean hasRoom(Share share) {
    if (share.part == 0) return true;
    double used = sharing.stream().mapToDouble(each -> each.part).sum();
    return share.equals(queue.peek()) && (used == 0 || used + share.part <= SHARED_PART);
  }

  /** Waits until nobody else uses the device. */
  public Held alone() throws InterruptedException {
    try (var _ = Span.of("wait alone")) {
      return take();
    }
  }

  private Held take() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      if (waiting++ == 0) waitingSince = System.nanoTime();
      try {
        while (taken || !sharing.isEmpty()) changed.await();
      } finally {
        waiting--;
        changed.signalAll();
      }
      taken = true;
      return new Alone();
    } finally {
      lock.unlock();
    }
  }

  private final class Share implements Held {
    private final double part;
    private volatile boolean company;

    Share(double part) {
      this.part = part;
    }

    @Override
    public boolean company() {
      return company;
    }

    @Override
    public void close() {
      give(() -> sharing.remove(this));
    }
  }

  private final class Alone implements Held {
    @Override
    public boolean company() {
      return false;
    }

    @Override
    public void close() {
      give(() -> taken = false);
    }
  }

  private boolean closing() {
    if (waiting == 0) closed = false;
    else if (waiting >= gather || System.nanoTime() - waitingSince >= patienceNanos) closed = true;
    return closed;
  }

  private void give(Runnable how) {
    lock.lock();
    try {
      how.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
