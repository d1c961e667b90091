package dev.kbx.server;

import dev.kbx.store.Stored;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Wakes those that follow a run. A follower reads what is new from the store. */
final class Feeds {
  private final Map<String, Feed> feeds = new ConcurrentHashMap<>();

  private static final class Feed {
    final ReentrantLock lock = new ReentrantLock();
    final Condition changed = lock.newCondition();
    long version;
  }

  void verdict(String run, Stored stored) {
    changed(run);
  }

  void changed(String run) {
    Feed feed = feeds.get(run);
    if (feed == null) return; // Nobody follows it.
    feed.lock.lock();
    try {
      feed.version++;
      feed.changed.signalAll();
    } finally {
      feed.lock.unlock();
    }
  }

  /** The number of changes so far. */
  long version(String run) {
    Feed feed = feeds.computeIfAbsent(run, _ -> new Feed());
    feed.lock.lock();
    try {
      return feed.version;
    } finally {
      feed.lock.unlock();
    }
  }

  /** Waits for a change after {@code known}, for a limited time. */
  void await(String run, long known, long nanos) throws InterruptedException {
    Feed feed = feeds.computeIfAbsent(run, _ -> new Feed());
    feed.lock.lock();
    try {
      long left = nanos;
      while (feed.version == known && left > 0) left = feed.changed.awaitNanos(left);
    } finally {
      feed.lock.unlock();
    }
  }
}
