package dev.kbx.llm;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that only pauses move. */
final class FakeTime implements ProviderLimits.Time {
  static final Instant START = Instant.parse("2026-11-25T10:00:00Z");

  private final AtomicLong nanos = new AtomicLong();
  private final List<Duration> pauses = new CopyOnWriteArrayList<>();

  @Override
  public long nanos() {
    return nanos.get();
  }

  @Override
  public Instant now() {
    return START.plusNanos(nanos.get());
  }

  @Override
  public void sleep(Duration pause) {
    pauses.add(pause);
    nanos.addAndGet(pause.toNanos());
  }

  List<Duration> pauses() {
    return List.copyOf(pauses);
  }

  void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
