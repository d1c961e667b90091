package dev.kbx.llm;

import dev.kbx.llm.ChatReply.Usage;
import java.time.Duration;
import java.time.Instant;
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

  ProviderLimits(ModelSettings.Limits limits, Time time) {
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

  /**
   * A limit by the minute: fills evenly, holds what ten seconds bring, and may be overdrawn; who
   * overdraws waits until it is level. Unlike a fixed distance between requests this lets a long
   * prompt pass at once after a quiet time, and unlike a window of a minute it never lets a whole
   * minute's worth pass in one burst.
   */
  static final class TokenBucket {
    private static final double MINUTE = 60e9;
    private static final double HELD = 10e9;

    private final double perNano;
    private final double capacity;
    private final Time time;
    private double level;
    private long filledAt;

    TokenBucket(double perMinute, Time time) {
      this.perNano = perMinute / MINUTE;
      this.capacity = Math.max(1, perNano * HELD);
      this.time = time;
      this.level = capacity;
      this.filledAt = time.nanos();
    }

    /** Takes that many, and returns how long to wait before they may be used. */
    synchronized Duration take(long count) {
      long now = time.nanos();
      level = Math.min(capacity, level + (now - filledAt) * perNano);
      filledAt = now;
      level = Math.min(capacity, level - count);
      return level >= 0 ? Duration.ZERO : Duration.ofNanos((long) Math.ceil(-level / perNano));
    }
  }

  /** The clock, and pauses measured by it. */
  interface Time {
    /** Nanoseconds from some origin. */
    long nanos();

    Instant now();

    void sleep(Duration pause) throws InterruptedException;

    /** The real one. */
    Time SYSTEM =
        new Time() {
          @Override
          public long nanos() {
            return System.nanoTime();
          }

          @Override
          public Instant now() {
            return Instant.now();
          }

          @Override
          public void sleep(Duration pause) throws InterruptedException {
            Thread.sleep(pause);
          }
        };
  }
}
