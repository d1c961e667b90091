package dev.kbx.plan;

import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Zygote;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Memory that a task's calls take on a GPU beyond the usual limits: a module's inputs, results and
 * weights take gigabytes.
 *
 * @param lent bytes, as in {@link OracleMessage.MemoryEstimated}; so are {@code returned} and
 *     {@code weights}
 * @param part the largest part of the machine's memory that judging takes: 0 for a task with small
 *     cases, over 1 if it does not fit
 */
public record MemoryRequirements(long lent, long returned, long weights, double part) {
  /** Requirements of a task with small cases. */
  public static final MemoryRequirements USUAL = new MemoryRequirements(0, 0, 0, 0);

  /**
   * Bytes of weights that fit every runner's limits: a layer of 8192 x 8192 with its bias, as in
   * much of level 2.
   */
  private static final long FEW_WEIGHTS = 320L << 20;

  /** Time to make weights on one core, with a margin: two to four seconds are usual. */
  private static final double SECONDS_PER_GIB = 15;

  /**
   * Requirements from the oracle's estimate, on a machine with so much memory.
   *
   * @param deviceBytes memory of the GPU; null if unknown
   * @param hostBytes memory of the machine; null if unknown
   */
  public static MemoryRequirements of(
      OracleMessage.MemoryEstimated said, @Nullable Long deviceBytes, @Nullable Long hostBytes) {
    double device = deviceBytes == null ? 0 : said.device() / (double) deviceBytes;
    // Weights are made on the host: once in the oracle, and in the runner within its allowance.
    double host = hostBytes == null ? 0 : 3 * said.weights() / (double) hostBytes;
    return new MemoryRequirements(
        said.lent(), said.returned(), said.weights(), Math.max(device, host));
  }

  public boolean usual() {
    return equals(USUAL);
  }

  /** Whether the weights exceed every runner's usual limits. */
  public boolean heavy() {
    return weights > FEW_WEIGHTS;
  }

  /** Additional time for constructing the module. */
  Duration constructing() {
    return Duration.ofSeconds(Math.round(weights / (double) (1L << 30) * SECONDS_PER_GIB));
  }

  /**
   * A runner's allowance with host memory for its weights twice: the layers' own, and the
   * candidate's rearranged copy.
   */
  Zygote.Allowance allowance(Zygote.Allowance usual) {
    if (!heavy()) return usual;
    return new Zygote.Allowance(
        usual.memoryBytes() + 2 * weights,
        usual.cpuSeconds(),
        usual.processes(),
        usual.fileBytes());
  }
}
