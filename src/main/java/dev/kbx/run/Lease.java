package dev.kbx.run;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Who may use a device: many at once for what is not timed, or one alone for what is.
 *
 * <p>Whoever waits to be alone waits for others of the kind, so that the device changes hands
 * seldom: until {@code gather} of them wait, or the first one has waited for {@code patience}, the
 * device goes on being shared. Then nobody else is let in, and they follow one another.
 */
final class Lease {
  private final int gather;
  private final long patienceNanos;
  private final ReentrantLock lock = new ReentrantLock(true);
  private final Condition changed = lock.newCondition();
  private final Set<Share> sharing = new HashSet<>();
  private boolean taken;
  private int waiting;
  private long waitingSince;

  /** Whether the device is changing hands among those who want it alone. */
  private boolean closed;

  Lease(int gather, Duration patience) {
    this.gather = gather;
    this.patienceNanos = patience.toNanos();
  }

  /** The right to use the device until it is closed. */
  interface Held extends AutoCloseable {
    /** Whether somebody else used the device at some time meanwhile. */
    boolean company();

    @Override
    void close();
  }

  /** Waits until nobody has the device alone. */
  Held shared() throws InterruptedException {
    try (var _ = Span.of("wait shared")) {
      return share();
    }
  }

  private Held share() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (taken || closing()) changed.await();
      Share share = new Share();
      sharing.add(share);
      if (sharing.size() > 1) sharing.forEach(each -> each.company = true);
      return share;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until nobody else uses the device. */
  Held alone() throws InterruptedException {
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
    private volatile boolean company;

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
