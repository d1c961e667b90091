package dev.kbx.plan;

import dev.kbx.worker.Zygote;
import java.time.Duration;

/**
 * What one candidate may take.
 *
 * @param load importing its source
 * @param call one call of its entry, compilation of its kernels included
 * @param correctness all calls of the correctness stage together, the oracle's work not counted
 * @param size one batch of timed calls; how many batches there are, timing decides
 * @param allowance memory, processes and files of its runner
 * @param needs what of that its task asks for
 */
public record Limits(
    Duration load,
    Duration call,
    Duration correctness,
    Duration size,
    Zygote.Allowance allowance,
    MemoryRequirements needs) {

  /** Oracle work on one call or file: seconds at most, on a machine that may be busy. */
  public static final Duration ORACLE = Duration.ofMinutes(2);

  /**
   * An honest import of torch code takes under a second; a download or a busy loop does not end.
   */
  private static final Duration LOAD = Duration.ofSeconds(20);

  /** Without a GPU a call is interpreted: seconds where a GPU takes milliseconds. */
  private static final Duration CALL = Duration.ofSeconds(20);

  private static final Duration CORRECTNESS = Duration.ofMinutes(3);
  private static final Duration SIZE = Duration.ofSeconds(60);

  /**
   * Who needs more than 2 GiB of the host's memory is hoarding, unless a task's weights are that
   * large.
   */
  private static final Zygote.Allowance ALLOWANCE =
      new Zygote.Allowance(2L << 30, 600, 256, 512L << 20);

  /** Limits for tasks whose cases are small. */
  public Limits(
      Duration load,
      Duration call,
      Duration correctness,
      Duration size,
      Zygote.Allowance allowance) {
    this(load, call, correctness, size, allowance, MemoryRequirements.USUAL);
  }

  /** The same with room for what a task needs. */
  Limits with(MemoryRequirements needs) {
    return new Limits(
        load.plus(needs.constructing()),
        call,
        correctness,
        size,
        needs.allowance(allowance),
        needs);
  }

  /** The defaults, with another limit for one call: none is longer for an import either. */
  public static Limits of(Duration call) {
    Duration load = call.compareTo(LOAD) < 0 ? call : LOAD;
    return new Limits(load, call, CORRECTNESS, SIZE, ALLOWANCE);
  }

  public static Limits defaults() {
    return of(CALL);
  }
}
