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
    try (var _ = begin(what)) {
      return work.done();
    }
  }

  /** An activity that is going on; its time is added when it is closed. */
  public interface Activity extends AutoCloseable {
    @Override
    void close();
  }

  /** Begins an activity for work that throws several exceptions. */
  public Activity begin(String what) {
    long start = System.nanoTime();
    Span span = Span.of(what);
    return () -> {
      span.close();
      double spent = (System.nanoTime() - start) / 1e9;
      seconds.computeIfAbsent(what, _ -> new DoubleAdder()).add(spent);
    };
  }

  /** Seconds so far, by activity. */
  Map<String, Double> seconds() {
    Map<String, Double> sums = new TreeMap<>();
    seconds.forEach((what, sum) -> sums.put(what, sum.sum()));
    return sums;
  }
}
