package dev.kbx.server;

import java.util.HashMap;
import java.util.List;
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
    final Map<Integer, Long> replaced = new HashMap<>();
    long version;
  }

  /** Tells followers that another verdict is at a position where there was one. */
  void replaced(String run, int position) {
    Feed feed = feeds.get(run);
    if (feed == null) return;
    feed.lock.lock();
    try {
      feed.version++;
      feed.replaced.put(position, feed.version);
      feed.changed.signalAll();
    } finally {
      feed.lock.unlock();
    }
  }

  /**
   * The state of a run.
   *
   * @param version the number of changes so far
   * @param replaced positions at which verdicts were replaced since an earlier version
   */
  record State(long version, List<Integer> replaced) {}

  void changed(String run) {
    Feed feed = feeds.get(run);
    if (feed != null) changed(feed); // Else nobody follows it.
  }

  /** Wakes all that follow any run. */
  void wake() {
    feeds.values().forEach(Feeds::changed);
  }

  private static void changed(Feed feed) {
    feed.lock.lock();
    try {
      feed.version++;
      feed.changed.signalAll();
    } finally {
      feed.lock.unlock();
    }
  }

  /** The state now, and what was replaced since {@code known}. */
  State state(String run, long known) {
    Feed feed = feeds.computeIfAbsent(run, _ -> new Feed());
    feed.lock.lock();
    try {
      List<Integer> replaced =
          feed.replaced.entrySet().stream()
              .filter(each -> each.getValue() > known)
              .map(Map.Entry::getKey)
              .toList();
      return new State(feed.version, replaced);
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
