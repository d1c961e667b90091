package dev.kbx.device;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.DoubleAdder;

/** Sums of seconds by activity. Safe for several threads. */
public final class Spending {
  private final Map<String, DoubleAdder> seconds = new ConcurrentHashMap<>();

  Spending() {}

  /** An activity. */
  public interface Work<T, E extends Exception> {
    T done() throws E, InterruptedException;
  }

  /** Runs the activity and adds its time, even if it fails. */
  public <T, E extends Exception> T on(String what, Work<T, E> work)
      throws E, InterruptedException {
    long start = System.nanoTime();
    try (var _ = Span.of(what)) {
      return work.done();
    } finally {
      add(what, start);
    }
  }

  /** Adds the time since {@code start}, a value of {@link System#nanoTime}. */
  public void add(String what, long start) {
    seconds.computeIfAbsent(what, _ -> new DoubleAdder()).add((System.nanoTime() - start) / 1e9);
  }

  /** Seconds so far, by activity. */
  Map<String, Double> seconds() {
    Map<String, Double> sums = new TreeMap<>();
    seconds.forEach((what, sum) -> sums.put(what, sum.sum()));
    return sums;
  }
}
