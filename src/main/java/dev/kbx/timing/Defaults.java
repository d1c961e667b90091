package dev.kbx.timing;

import java.time.Duration;

/**
 * The constants of timing, each with its reason. {@link PairedSamples} says how an interval comes
 * of them.
 */
final class Defaults {
  private Defaults() {}

  // How many rounds, and which of them count

  /** With fewer rounds the interval has less than two degrees of freedom. */
  static final int MIN_ROUNDS = 4;

  /** Rounds after which 2 % of jitter a round and {@link #SCATTER} come to {@link #TIGHT}. */
  static final int MAX_ROUNDS = 40;

  /** As {@link #MAX_ROUNDS} below {@link #SHORT_MS}, and where {@link #TIGHT} cannot be had. */
  static final int MAX_SHORT_ROUNDS = 8;

  /**
   * Nominal confidence of the interval. With stopping, 93 to 98 % of intervals hold the true ratio
   * under the noise that was simulated: the 95 % interval that verdicts speak of.
   */
  static final double CONFIDENCE = 0.97;

  /** Half width of the interval of the ratio at which measuring stops, relative. */
  static final double TIGHT = 0.01;

  /** As {@link #TIGHT} below {@link #SHORT_MS}. */
  static final double TIGHT_SHORT = 0.03;

  /**
   * Below this many milliseconds a call is not worth a second of the device: the interval stays as
   * wide as it is after a few rounds.
   */
  static final double SHORT_MS = 0.050;

  /**
   * Below this many milliseconds a call, what is timed may be how fast Python launches: on a slow
   * host that takes 10 to 60 us a kernel, and a reference may be several.
   */
  static final double LAUNCHING_MS = 0.250;

  /** Seconds of rounds for one of many sizes after which measuring stops, if there are enough. */
  static final double BUDGET_SECONDS = 1.5;

  /** Seconds that few sizes share: a task with one has it for that of a whole network. */
  static final double SHARED_SECONDS = 4.5;

  /**
   * Measuring stops where a tight interval would cost this many budgets. After {@link #MIN_ROUNDS}
   * rounds the variance is known so badly that one in fifty seems four times what it is.
   */
  static final double HOPELESS_BUDGETS = 4;

  /**
   * Part of the budget before that: quick rounds are cheap, and a stall among a few of them looks
   * hopeless.
   */
  static final double SLOW_PART = 0.25;

  /** Rounds before that, unless calls are {@link #SLOW_MS}: fewer say too little. */
  static final int MIN_HOPELESS_ROUNDS = 8;

  /** Milliseconds of a call by both sides. */
  static final double SLOW_MS = 20;

  /** Half width of a 97 % interval of a mean, in standard errors, after many rounds. */
  static final double NORMAL_QUANTILE = 2.17;

  /** This many uneven rounds are no hiccups of the machine. */
  static final int UNEVEN_ROUNDS = 2;

  /** This many rounds with a gap are no stalls of the machine, if they are many enough of all. */
  static final int GAP_ROUNDS = 2;

  /** Rounds among which they are looked for: of six, chance alone stalls two on a busy machine. */
  static final int MIN_GAP_ROUNDS = 16;

  /** More than this part of all rounds is no stall of the machine. */
  static final double STALL_SHARE = 0.25;

  /** Standard deviations beyond which a round's log ratio is a stall of one side. */
  static final double STALL_DEVIATIONS = 8;

  /** Log ratios this near the middle are no stall. */
  static final double LEAST_STALL = 0.05;

  /**
   * Milliseconds between ticks of a clock that never showed any: what CUDA's documentation of
   * {@code cudaEventElapsedTime} promises.
   */
  static final double EVENT_STEP_MS = 0.0005;

  /**
   * Standard deviation, between processes, of the log ratio of two that do the same: memory lies
   * elsewhere, code does. Rounds of one process do not show it. On an H200, intervals with it held
   * 1 for 96.8 % of 308 references against themselves, sizes of 50 us and more.
   */
  static final double SCATTER = 0.0025;

  /**
   * The same where the device waits for the host, at most: as much as rounds differ, which is
   * little where waiting is. On an H200, references of 50 to 300 us differed from themselves by 3.6
   * %; with this, intervals of 96 % of all that waited held 1, of 113 and then of 159.
   */
  static final double HOST_SCATTER = 0.04;

  // One round

  /** The first round compiles, fills caches and wakes the clocks; it is checked and not counted. */
  static final int WARM_UP_ROUNDS = 1;

  /** A batch whose mean is this many times its median has calls that do others' work. */
  static final double UNEVEN = 1.25;

  /**
   * Milliseconds a batch that only the wall clock may see, whatever is normal: a stall of a busy
   * host hits few calls as hard as many. Never more than {@link #STALL_PART} of the reference's
   * time, or a millisecond a call: a candidate could hide in the rest.
   */
  static final double STALL_MS = 8;

  /** As {@link #STALL_MS}: this part of the time of a reference that takes long hides nothing. */
  static final double STALL_PART = 0.05;

  /** Milliseconds a call by which a mean may differ from the median, whatever the ratio. */
  static final double UNEVEN_MS = 0.005;

  // One batch of calls

  /** Calls in a batch at most; fewer where the arenas do not hold that many input sets. */
  static final int MAX_CALLS = 8;

  /** Calls in a batch while nobody knows whether a few rounds will do. */
  static final int FEW_CALLS = 4;

  /** Calls in a batch that only warms up. */
  static final int WARM_UP_CALLS = 2;

  /**
   * What a batch should not take much longer than. A call that takes as long by itself needs no
   * crowd to be timed well: launching is nothing of it, and a stall is left out as a round. Rounds
   * of calls of 2.5 ms and more differed by under 0.1 % on an H200.
   */
  static final double BATCH_MS = 10;

  /** Milliseconds that no call ends within: a nanosecond, a thousandth of what events tell. */
  static final double SHORTEST_MS = 1e-6;

  // A device that slows itself down

  /** Rounds repeated at most: a device that stays hot is measured as it is. */
  static final int MAX_REPEATS = 6;

  // A reference that a candidate holds back

  /** Beyond this ratio no noise explains a median. */
  static final double SLOWER = 1.25;

  /** Milliseconds that a tiny kernel may differ by, whatever the ratio. */
  static final double NOISE_MS = 0.005;

  /** Batches that must all say the same: one alone may be the machine's doing. */
  static final int ALONE_BATCHES = 3;

  /** Calls in a batch while nobody knows how long they take. */
  static final int ALONE_CALLS = 4;

  /** Seconds at most; a candidate may be using the device. */
  static final Duration PRODUCTS_LIMIT = Duration.ofMinutes(2);

  // A reference that was held back

  /** So many times what it takes alone, a reference that has become slow was held back. */
  static final double HELD_BACK = 1.05;

  // What no kernel can do

  /** Memory is never this many times as fast as a copy. */
  static final double MEMORY_SLACK = 2.5;

  /**
   * No product is this many times as fast as the fastest measured in any precision: measured peaks
   * are below those of short bursts, and Strassen's algorithm saves an eighth a level.
   */
  static final double COMPUTING_SLACK = 2;

  /** No call is this many times as fast as two events with nothing between them. */
  static final double EMPTY_SLACK = 2;

  /** With this many times the cache to move, what stays in the cache hardly counts. */
  static final int CACHES = 4;

  /** Bytes flushed before a call are this many times the L2 cache. */
  static final int FLUSHED_CACHES = 2;

  // Compiled baselines

  /** Compiling for one size: max-autotune times dozens of kernels for each matrix product. */
  static final Duration COMPILE_LIMIT = Duration.ofMinutes(5);

  /** One round of both; a compiled reference may be slow the first time. */
  static final Duration COMPARE_LIMIT = Duration.ofMinutes(2);

  /** Rounds of a re-check, an even number so that either is first as often. */
  static final int RECHECKS = 2;

  /** How far beyond its kept interval a ratio may lie in a re-check, relative. */
  static final double DRIFT = 0.03;

  // Compiled baselines from before

  /** Beyond this age a baseline is measured anew, whatever a re-check would say. */
  static final Duration BASELINE_AGE = Duration.ofDays(7);
}
