package dev.kbx.plan;

import dev.kbx.worker.Zygote;
import java.time.Duration;

/**
 * Resource limits of one candidate.
 *
 * @param load time to import its source
 * @param call time for one call of its entry, without compiling kernels
 * @param correctness time for all calls of the correctness stage, without compiling and the
 *     oracle's work
 * @param size time for one batch of timed calls; timing decides the number of batches
 * @param device time that it may have the device alone for its timed calls, tuning included; one
 *     that is hundreds of times slower than the reference is then not timed further
 * @param allowance memory, processes and files of its runner
 * @param needs additional memory that its task requires
 */
public record Limits(
    Duration load,
    Duration call,
    Duration correctness,
    Duration size,
    Duration device,
    Zygote.Allowance allowance,
    MemoryRequirements needs) {

  /** Limit for the oracle's work on one call or file, on a machine that may be busy. */
  public static final Duration ORACLE = Duration.ofMinutes(2);

  /**
   * An honest import of torch code takes under a second; a download or a busy loop does not end.
   */
  private static final Duration LOAD = Duration.ofSeconds(20);

  /** Without a GPU, the processor executes kernels: seconds where a GPU takes milliseconds. */
  private static final Duration CALL = Duration.ofSeconds(20);

  private static final Duration CORRECTNESS = Duration.ofMinutes(3);
  private static final Duration SIZE = Duration.ofSeconds(60);

  /** Thirty times what timing an honest kernel takes. */
  private static final Duration DEVICE = Duration.ofSeconds(60);

  /**
   * No honest candidate needs more than 4 GiB of host memory, unless a task's weights are that
   * large: ptxas takes more than 2 GiB for a kernel with a block of thousands.
   */
  private static final Zygote.Allowance ALLOWANCE =
      new Zygote.Allowance(4L << 30, 600, 256, 512L << 20);

  private static final Duration COMPILERS = Duration.ofSeconds(60);
  private static final long COMPILER_BYTES = 6L << 30;

  /** Limits for tasks with small cases. */
  public Limits(
      Duration load,
      Duration call,
      Duration correctness,
      Duration size,
      Zygote.Allowance allowance) {
    this(load, call, correctness, size, DEVICE, allowance, MemoryRequirements.USUAL);
  }

  /**
   * These limits for a candidate that compiles in its calls by compilers that load for seconds and
   * run for more: TVM, MLIR, nvcc with CUTLASS's headers.
   */
  Limits withCompilers() {
    return new Limits(
        load.plus(COMPILERS),
        call.plus(COMPILERS),
        correctness.plus(COMPILERS),
        size.plus(COMPILERS),
        device,
        new Zygote.Allowance(
            Math.max(allowance.memoryBytes(), COMPILER_BYTES),
            allowance.cpuSeconds(),
            allowance.processes(),
            allowance.fileBytes()),
        needs);
  }

  /** Whether a runner that was made for any candidate will do. */
  public boolean isUsual() {
    return !needs.heavy() && allowance.memoryBytes() < COMPILER_BYTES;
  }

  /** These limits, extended by a task's requirements. */
  Limits with(MemoryRequirements needs) {
    return new Limits(
        load.plus(needs.constructing()),
        call,
        correctness,
        size,
        device,
        needs.allowance(allowance),
        needs);
  }

  /**
   * Whether the correctness stage has time for another call.
   *
   * @param nanos time that the candidate has taken in it
   */
  public boolean allowAnotherCall(long nanos) {
    return nanos <= correctness.toNanos();
  }

  /** These limits with another one for the time alone on the device. */
  public Limits withDevice(Duration other) {
    return new Limits(load, call, correctness, size, other, allowance, needs);
  }

  /** The defaults with another limit for one call, which also bounds an import. */
  public static Limits of(Duration call) {
    Duration load = call.compareTo(LOAD) < 0 ? call : LOAD;
    return new Limits(load, call, CORRECTNESS, SIZE, ALLOWANCE);
  }

  public static Limits defaults() {
    return of(CALL);
  }
}
