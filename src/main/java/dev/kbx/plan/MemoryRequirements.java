package dev.kbx.plan;

import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Zygote;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a task's calls take on a GPU beyond what every candidate may: a module's inputs, results and
 * weights have gigabytes.
 *
 * @param lent bytes, as in {@link OracleMessage.MemoryEstimated}; so are {@code returned} and
 *     {@code weights}
 * @param part of the machine that judging takes at the time when it takes most: 0 for a task whose
 *     cases are small, over 1 where there is no room for all of it
 */
public record MemoryRequirements(long lent, long returned, long weights, double part) {
  /** Of a task whose cases are small. */
  public static final MemoryRequirements USUAL = new MemoryRequirements(0, 0, 0, 0);

  /**
   * Weights up to here fit in what every runner may have: a layer of 8192 x 8192 with its bias, as
   * much of level 2 has it.
   */
  private static final long FEW_WEIGHTS = 320L << 20;

  /** Making weights on one core, with some to spare: two to four seconds are usual. */
  private static final double SECONDS_PER_GIB = 15;

  /**
   * What was said of a task, on a machine with so much memory.
   *
   * @param deviceBytes memory of the GPU; null if unknown
   * @param hostBytes memory of the machine; null if unknown
   */
  public static MemoryRequirements of(
      OracleMessage.MemoryEstimated said, @Nullable Long deviceBytes, @Nullable Long hostBytes) {
    double device = deviceBytes == null ? 0 : said.device() / (double) deviceBytes;
    // Weights are made on the host: once in the oracle, and in the runner as in its allowance.
    double host = hostBytes == null ? 0 : 3 * said.weights() / (double) hostBytes;
    return new MemoryRequirements(
        said.lent(), said.returned(), said.weights(), Math.max(device, host));
  }

  public boolean usual() {
    return equals(USUAL);
  }

  /** Whether its weights are more than every runner has room for. */
  public boolean heavy() {
    return weights > FEW_WEIGHTS;
  }

  /** Time that constructing takes beyond what an import may. */
  Duration constructing() {
    return Duration.ofSeconds(Math.round(weights / (double) (1L << 30) * SECONDS_PER_GIB));
  }

  /**
   * A runner's allowance with room on the host for its weights twice: as the layers' own, and as a
   * candidate may rearrange them.
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
