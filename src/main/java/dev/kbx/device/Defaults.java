package dev.kbx.device;

import java.time.Duration;

/** The constants of sharing GPUs and processors, each with its reason. */
final class Defaults {
  private Defaults() {}

  // Who may use a GPU

  /**
   * Candidates that wait to be timed before the others on the device are held up: each time that
   * changes hands, somebody waits.
   */
  static final int GATHER = 6;

  /** How long the first of them waits for others at most. */
  static final Duration PATIENCE = Duration.ofMillis(300);

  /** Measuring peaks takes seconds on a device that is free. */
  static final Duration PEAKS_LIMIT = Duration.ofMinutes(2);

  /**
   * Candidates in the correctness stage at the same time: each has an oracle with a context. They
   * wait for hosts and for one another's contexts: with five a device is shared for less time than
   * with three.
   */
  static final int CORRECTING = 5;

  // Sharing a GPU

  /** Parts of all who share add up to no more: contexts and runners that stand ready take some. */
  static final double SHARED_PART = 0.85;

  // Warm runners

  /** Runners kept ready: for candidates that follow one another while none can be made. */
  static final int MAX_RUNNERS = 12;

  /**
   * One in so many is for calls: those are made while the device is shared, and in half the time.
   */
  static final int CALLED_PART = 3;

  /** Memory of the device for each of them: a context takes a sixteenth of it. */
  static final long BYTES_PER_RUNNER = 8L << 30;

  /**
   * Made at the same time: a driver does next to nothing of it side by side (on an H200 one takes
   * 0.12 s, four 0.4 s).
   */
  static final int MAKERS = 3;

  /** Enough for candidates that were let in at the same moment to say that they need a runner. */
  static final Duration COURTESY = Duration.ofMillis(5);

  // Compiling

  /**
   * Candidates whose kernels are compiled at the same time, each by up to eight processes: with
   * more of them all would be ready late, and the GPUs have nothing to do until then.
   */
  static final int COMPILING_KERNELS = Math.max(2, Runtime.getRuntime().availableProcessors() / 8);

  /**
   * Candidates whose C++ is compiled at the same time. It takes minutes and would hold up
   * everybody's kernels; each has two compilers, of up to 2 GiB.
   */
  static final int COMPILING_CPP = Math.max(2, Runtime.getRuntime().availableProcessors() / 4);

  // A GPU that may be lost

  /** For a tiny computation in a fresh context: a device that does not answer by then is gone. */
  static final Duration PROBE_LIMIT = Duration.ofSeconds(20);

  // Measured peaks

  /** Thermal paste, power limits and neighbours change: peaks are measured again after this. */
  static final Duration PEAK_AGE = Duration.ofDays(30);
}
