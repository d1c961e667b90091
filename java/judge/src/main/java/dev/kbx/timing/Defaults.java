package dev.kbx.timing;

import java.time.Duration;

/** The constants of timing, each with its reason. {@link PairedSamples} explains the interval. */
final class Defaults {
  private Defaults() {}

  // How many rounds, and which of them count

  /** With fewer rounds the interval has less than two degrees of freedom. */
  static final int MIN_ROUNDS = 4;

  /**
   * Rounds after which 2 % of jitter a round, together with {@link #SCATTER}, reach {@link #TIGHT}.
   */
  static final int MAX_ROUNDS = 40;

  /**
   * As {@link #MAX_ROUNDS}, for sizes below {@link #SHORT_MS} and if {@link #TIGHT} is
   * unattainable.
   */
  static final int MAX_SHORT_ROUNDS = 8;

  /**
   * Nominal confidence of the interval. Because of early stopping, 93 to 98 % of intervals hold the
   * true ratio under simulated noise: the 95 % interval of verdicts.
   */
  static final double CONFIDENCE = 0.97;

  /** Relative half width of the ratio's interval at which measuring stops. */
  static final double TIGHT = 0.01;

  /**
   * As {@link #TIGHT} below {@link #SHORT_MS}: of this 4.5 % is {@link #SHORT_SCATTER}, which
   * rounds do not reduce, and 3 % the part of the rounds.
   */
  static final double TIGHT_SHORT = 0.055;

  /**
   * Milliseconds of a call below which it is not worth a second of device time: a few rounds
   * suffice, and the interval stays wide.
   */
  static final double SHORT_MS = 0.050;

  /**
   * Milliseconds of a call below which it may be launch-bound: on a slow host Python takes 10 to 60
   * us a kernel, and a reference may launch several.
   */
  static final double LAUNCHING_MS = 0.250;

  /**
   * Seconds of rounds for one of many sizes after which measuring stops, if there are enough
   * rounds.
   */
  static final double BUDGET_SECONDS = 1.5;

  /** Seconds shared by few sizes: a task with a single size may time a whole network. */
  static final double SHARED_SECONDS = 4.5;

  /**
   * Measuring stops if a tight interval would take this many budgets. The variance is so uncertain
   * after {@link #MIN_ROUNDS} rounds that one in fifty seems four times too large.
   */
  static final double HOPELESS_BUDGETS = 4;

  /**
   * Share of the budget that must be used before that: fast rounds are cheap, and a stall among a
   * few of them makes the interval look hopeless.
   */
  static final double SLOW_PART = 0.25;

  /** Rounds required before that, unless calls take {@link #SLOW_MS}. */
  static final int MIN_HOPELESS_ROUNDS = 8;

  /** Milliseconds of a call by both sides together. */
  static final double SLOW_MS = 20;

  /** Half width of a 97 % interval of a mean, in standard errors, after many rounds. */
  static final double NORMAL_QUANTILE = 2.17;

  /** Number of uneven rounds that are more than hiccups of the machine. */
  static final int UNEVEN_ROUNDS = 2;

  /**
   * Number of rounds with a gap that are more than chance stalls, if they are a large enough share
   * of all.
   */
  static final int GAP_ROUNDS = 2;

  /** Rounds among which gaps are counted: of six, chance alone stalls two on a busy machine. */
  static final int MIN_GAP_ROUNDS = 16;

  /** More than this share of all rounds cannot be stalls of the machine. */
  static final double STALL_SHARE = 0.25;

  /** Standard deviations beyond which a round's log ratio counts as a stall of one side. */
  static final double STALL_DEVIATIONS = 8;

  /** Log ratios this close to the middle are not a stall. */
  static final double LEAST_STALL = 0.05;

  /**
   * Milliseconds between ticks of a clock that showed none: the resolution that CUDA documents for
   * {@code cudaEventElapsedTime}.
   */
  static final double EVENT_STEP_MS = 0.0005;

  /**
   * Standard deviation of the log ratio between two identical processes, whose memory and code lie
   * elsewhere. Rounds of one process do not show it. On an H200, intervals that include it held 1
   * for 96.0 % of references against themselves, 278 sizes of 50 us and more that do not wait for
   * the host ({@code bench/noise-h200.txt}).
   */
  static final double SCATTER = 0.0025;

  /**
   * The same for sizes below {@link #SHORT_MS}, where a process differs from the next by more than
   * its rounds do from each other. Of references against themselves on an H200 95 % were within
   * 4.09 % of 1 (152 sizes below 10 us) and within 3.63 % (142 sizes of 10 to 50 us), and of four
   * such sizes in 58 processes each within 4.35 % and 4.02 % ({@code bench/noise-h200.txt}, |log
   * speedup|). Half an interval is at least {@link #NORMAL_QUANTILE} times this, 4.4 %, and so
   * holds at least 95 % of each; with {@link #SCATTER} intervals held 1 for 76, 87, 85 and 52 %.
   */
  static final double SHORT_SCATTER = 0.0205;

  /**
   * Upper bound of the same for sizes on which the device waits for the host: there it is as large
   * as the differences between rounds. On an H200, references of 50 to 300 us differed from
   * themselves by 3.6 %; with this, intervals of 98.9 % of 189 such sizes held 1 ({@code
   * bench/noise-h200.txt}).
   */
  static final double HOST_SCATTER = 0.04;

  // One round

  /**
   * The first round compiles, fills caches and raises the clocks; it is checked and not counted.
   */
  static final int WARM_UP_ROUNDS = 1;

  /** In a batch whose mean is this many times its median, one call does the work of others. */
  static final double UNEVEN = 1.25;

  /**
   * Milliseconds a batch of wall time that device time need not explain: a stall of a busy host has
   * the same length for few calls as for many. At most {@link #STALL_PART} of the reference's time,
   * or a millisecond a call: a candidate could hide work in more.
   */
  static final double STALL_MS = 8;

  /**
   * As {@link #STALL_MS}, as a share of a long reference's time, in which nothing can be hidden.
   */
  static final double STALL_PART = 0.05;

  /** Milliseconds a call by which a mean may exceed the median, whatever the ratio. */
  static final double UNEVEN_MS = 0.005;

  // One batch of calls

  /** Calls in a batch at most; fewer where the arenas do not hold that many input sets. */
  static final int MAX_CALLS = 8;

  /** Calls in a batch of graphs, and in others while it is unknown whether a few rounds suffice. */
  static final int FEW_CALLS = 4;

  /** Calls in a batch that only warms up, or only shows what launching costs beside graphs. */
  static final int WARM_UP_CALLS = 2;

  /**
   * Target milliseconds of a batch. A call that takes as long alone needs no further calls: its
   * launch cost is negligible, and a stalled round is left out. Rounds of calls of 2.5 ms and more
   * differed by under 0.1 % on an H200.
   */
  static final double BATCH_MS = 10;

  /**
   * Milliseconds below which no call is: a nanosecond, a thousandth of the resolution of events.
   */
  static final double SHORTEST_MS = 1e-6;

  // A device that slows itself down

  /** Maximum of repeated rounds: a device that stays hot is measured as it is. */
  static final int MAX_REPEATS = 6;

  // A reference that a candidate holds back

  /** Beyond this ratio noise cannot explain a median. */
  static final double SLOWER = 1.25;

  /** Milliseconds that a tiny kernel may differ by, whatever the ratio. */
  static final double NOISE_MS = 0.005;

  /** Batches that must all agree: a single one may be slow by chance. */
  static final int ALONE_BATCHES = 3;

  /** Calls in a batch while their duration is unknown. */
  static final int ALONE_CALLS = 4;

  /** Limit in seconds; a candidate may be using the device. */
  static final Duration PRODUCTS_LIMIT = Duration.ofMinutes(2);

  // A reference that was held back

  /** A reference this many times slower than alone was slowed down. */
  static final double HELD_BACK = 1.05;

  // What no kernel can do

  /** No kernel moves memory this many times as fast as a copy. */
  static final double MEMORY_SLACK = 2.5;

  /**
   * No product is this many times as fast as the fastest measured in any precision: measured peaks
   * are below those of short bursts, and Strassen's algorithm saves an eighth a level.
   */
  static final double COMPUTING_SLACK = 2;

  /** No call is this many times as fast as two events with nothing between them. */
  static final double EMPTY_SLACK = 2;

  /** If a call moves this many times the cache, the part that stays in the cache is negligible. */
  static final int CACHES = 4;

  /** Bytes flushed before a call are this many times the L2 cache. */
  static final int FLUSHED_CACHES = 2;

  // Candidates that are much slower than the reference

  /** One this many times slower is timed in few calls, and only within its budget. */
  static final double MUCH_SLOWER = 100;

  // Memory

  /** A candidate that holds this many times the reference's memory is flagged. */
  static final double LARGE_WORKSPACE = 100;

  /** And as long as it holds this many copies of what it reads and writes. */
  static final long COPIES = 2;

  /** A reference counts with at least these bytes: in place it holds none. */
  static final long SMALL_BYTES = 64 << 10;

  // Compiled baselines

  /** For compiling one size: max-autotune times dozens of kernels for each matrix product. */
  static final Duration COMPILE_LIMIT = Duration.ofMinutes(5);

  /** One round of both; a compiled reference may be slow the first time. */
  static final Duration COMPARE_LIMIT = Duration.ofMinutes(2);

  /** Rounds of a re-check; even, so that each side goes first equally often. */
  static final int RECHECKS = 2;

  /** Relative distance by which a re-checked ratio may lie outside its cached interval. */
  static final double DRIFT = 0.03;

  // Compiled baselines from before

  /** Maximum age of a cached baseline, whatever a re-check would show. */
  static final Duration BASELINE_AGE = Duration.ofDays(7);
}
