package dev.kbx.device;

import java.time.Duration;

/** The constants of sharing GPUs and processors, each with its reason. */
final class Defaults {
  private Defaults() {}

  // Who may use a GPU

  /**
   * Candidates that wait for exclusive use before shared users are held up: each switch between
   * shared and exclusive makes somebody wait.
   */
  static final int GATHER = 6;

  /** Longest time that the first of them waits for others. */
  static final Duration PATIENCE = Duration.ofMillis(300);

  /** Measuring peaks takes seconds on a free device. */
  static final Duration PEAKS_LIMIT = Duration.ofMinutes(2);

  /**
   * Candidates in the correctness stage at the same time: each has an oracle with a CUDA context.
   * They often wait for the host and for each other's contexts: with five the device is shared for
   * less time than with three.
   */
  static final int CORRECTING = 5;

  // Sharing a GPU

  /** Limit for the sum of all sharers' parts: contexts and warm runners take the rest. */
  static final double SHARED_PART = 0.85;

  // Warm runners

  /** Warm runners of a GPU: enough for consecutive candidates while none can be made. */
  static final int MAX_RUNNERS = 12;

  /**
   * One in this many is for untimed calls: those are made while the device is shared, and in half
   * the time.
   */
  static final int CALLED_PART = 3;

  /** Device memory for each warm runner: a context takes a sixteenth of it. */
  static final long BYTES_PER_RUNNER = 8L << 30;

  /**
   * Warm runners made at the same time: the driver does hardly anything in parallel (on an H200 one
   * takes 0.12 s, four 0.4 s).
   */
  static final int MAKERS = 3;

  /** Enough for candidates that were admitted together to request their runners first. */
  static final Duration COURTESY = Duration.ofMillis(5);

  // Compiling

  /**
   * Candidates whose kernels are compiled at the same time, each by up to eight processes. More
   * would all finish late, and leave the GPUs idle until then.
   */
  static final int COMPILING_KERNELS = Math.max(2, Runtime.getRuntime().availableProcessors() / 4);

  /**
   * Candidates whose C++ is compiled at the same time. It takes minutes and would delay all
   * kernels; each uses two compilers of up to 2 GiB.
   */
  static final int COMPILING_CPP = Math.max(2, Runtime.getRuntime().availableProcessors() / 4);

  // A GPU that may be lost

  /** For a tiny computation in a fresh context: a device that takes longer is lost. */
  static final Duration PROBE_LIMIT = Duration.ofSeconds(20);

  // Measured peaks

  /**
   * Thermal paste, power limits and other tenants change, so peaks are measured again after this
   * time.
   */
  static final Duration PEAK_AGE = Duration.ofDays(30);
}
