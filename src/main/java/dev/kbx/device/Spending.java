package dev.kbx.device;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.DoubleAdder;

/** Seconds by what they went to, added up by any number of threads. */
public final class Spending {
  private final Map<String, DoubleAdder> seconds = new ConcurrentHashMap<>();

  Spending() {}

  /** What is done. */
  public interface Work<T, E extends Exception> {
    T done() throws E, InterruptedException;
  }

  /** Does the work and counts its time, also when it fails. */
  public <T, E extends Exception> T on(String what, Work<T, E> work)
      throws E, InterruptedException {
    long start = System.nanoTime();
    try (var _ = Span.of(what)) {
      return work.done();
    } finally {
      add(what, start);
    }
  }

  /** Counts the time since {@code start}, of {@link System#nanoTime}. */
  public void add(String what, long start) {
    seconds.computeIfAbsent(what, _ -> new DoubleAdder()).add((System.nanoTime() - start) / 1e9);
  }

  /** Seconds so far. */
  Map<String, Double> seconds() {
    Map<String, Double> sums = new TreeMap<>();
    seconds.forEach((what, sum) -> sums.put(what, sum.sum()));
    return sums;
  }
}
