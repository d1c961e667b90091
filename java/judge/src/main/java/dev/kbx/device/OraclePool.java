package dev.kbx.device;

import dev.kbx.worker.Oracle;
import dev.kbx.worker.WorkerFailure;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A pool of one device's oracles that do not time. An oracle serves one candidate or task at a time
 * and is reused with the tasks it has loaded. The pool grows to the number in use at the same time.
 */
public final class OraclePool implements AutoCloseable {
  /** Starts an oracle. */
  interface Start {
    public Oracle oracle() throws InterruptedException;
  }

  private final Start start;
  private final Deque<Oracle> idle = new ArrayDeque<>();
  private final Set<Oracle> all = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  OraclePool(Start start) {
    this.start = start;
  }

  /** An oracle on loan; closing this returns it to the pool. */
  public final class Borrowed implements AutoCloseable {
    private final Oracle oracle;
    private boolean sound;

    private Borrowed(Oracle oracle) {
      this.oracle = oracle;
    }

    public Oracle oracle() {
      return oracle;
    }

    /**
     * Reports that the oracle has answered all requests. Otherwise {@code close} ends the oracle.
     */
    public void sound() {
      sound = true;
    }

    @Override
    public void close() {
      if (sound && oracle.alive()) giveBack(oracle);
      else end(oracle);
    }
  }

  /** Borrows an idle oracle, or starts one. */
  Borrowed borrow() throws InterruptedException {
    for (Oracle ready = poll(); ready != null; ready = poll()) {
      if (ready.alive()) return new Borrowed(ready);
      end(ready);
    }
    if (closed) throw new WorkerFailure("the workers were closed");
    Oracle started = start.oracle();
    all.add(started);
    if (closed) end(started);
    return new Borrowed(started);
  }

  /** Ends idle oracles but one. */
  void keepOne() {
    List<Oracle> ended;
    synchronized (this) {
      ended = idle.stream().skip(1).toList();
      idle.removeAll(ended);
    }
    ended.parallelStream().forEach(this::end);
  }

  private synchronized @Nullable Oracle poll() {
    return idle.poll();
  }

  private void giveBack(Oracle oracle) {
    synchronized (this) {
      if (!closed) {
        idle.push(oracle);
        return;
      }
    }
    end(oracle);
  }

  private void end(Oracle oracle) {
    all.remove(oracle);
    oracle.close();
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      idle.clear();
    }
    all.parallelStream().forEach(this::end);
  }
}
