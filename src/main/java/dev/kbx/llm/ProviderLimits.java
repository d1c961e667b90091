package dev.kbx.llm;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Limits of one provider and key, shared by all models behind them. */
final class ProviderLimits {
  private final int parallel;
  private final Semaphore inFlight;
  private final @Nullable TokenBucket requests;
  private final @Nullable TokenBucket tokens;
  private final Time time;
  private final AtomicLong closedUntil;

  ProviderLimits(Limits limits, Time time) {
    this.parallel = limits.inFlight();
    this.inFlight = new Semaphore(parallel, true);
    this.requests = bucket(limits.requestsPerMinute(), time);
    this.tokens = bucket(limits.tokensPerMinute(), time);
    this.time = time;
    this.closedUntil = new AtomicLong(time.nanos());
  }

  private static @Nullable TokenBucket bucket(@Nullable Integer perMinute, Time time) {
    return perMinute == null ? null : new TokenBucket(perMinute, time);
  }

  /** How many requests may be in flight. */
  int parallel() {
    return parallel;
  }

  /** Permission for one request; ends with it. */
  final class Slot implements AutoCloseable {
    private final long estimate;

    private Slot(long estimate) {
      this.estimate = estimate;
    }

    /** Corrects the estimate, if the provider said what was used. */
    void used(@Nullable Usage usage) {
      if (tokens == null || usage == null) return;
      var _ = tokens.take(usage.total() - estimate); // Those who come next wait.
    }

    @Override
    public void close() {
      inFlight.release();
    }
  }

  /** Waits until a request of about that many tokens may be sent. */
  Slot enter(long estimate) throws InterruptedException {
    inFlight.acquire();
    try {
      if (requests != null) pause(requests.take(1));
      if (tokens != null) pause(tokens.take(estimate));
      for (long left = untilOpen(); left > 0; left = untilOpen()) pause(Duration.ofNanos(left));
      return new Slot(estimate);
    } catch (InterruptedException e) {
      inFlight.release();
      throw e;
    }
  }

  /** Keeps new requests back, as the provider said when it would take them. */
  void closeFor(Duration pause) {
    long until = time.nanos() + pause.toNanos();
    closedUntil.accumulateAndGet(until, (one, other) -> one - other > 0 ? one : other);
  }

  private long untilOpen() {
    return closedUntil.get() - time.nanos();
  }

  private void pause(Duration pause) throws InterruptedException {
    if (pause.isPositive()) time.sleep(pause);
  }
}
