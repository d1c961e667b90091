package dev.kbx.llm;

import java.time.Duration;
import java.time.Instant;

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
