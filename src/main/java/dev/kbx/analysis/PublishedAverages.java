package dev.kbx.analysis;

import dev.kbx.analysis.VerdictRow.Sizes;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Speedups averaged as KernelBenchX does it, over all candidates that have one. For comparison with
 * it only: {@link SetSpeedup} says more.
 *
 * @param global all milliseconds of the baseline asked for over all of the candidates, size by size
 *     the same sizes: dominated by the slowest; null where those of a candidate's baseline are not
 *     known
 * @param perTask arithmetic mean; null where nothing has a speedup
 */
public record PublishedAverages(@Nullable Double global, @Nullable Double perTask) {
  /** Those of the rows that have a speedup. */
  public static PublishedAverages of(List<VerdictRow> rows) {
    List<VerdictRow> timed = rows.stream().filter(row -> row.speedup() != null).toList();
    if (timed.isEmpty()) return new PublishedAverages(null, null);
    double mean =
        timed.stream()
            .map(VerdictRow::speedup)
            .filter(Objects::nonNull)
            .mapToDouble(Speedup::value)
            .average()
            .orElseThrow();
    return new PublishedAverages(global(timed), mean);
  }

  private static @Nullable Double global(List<VerdictRow> timed) {
    double baseline = 0;
    double candidate = 0;
    for (VerdictRow row : timed) {
      Sizes sizes = row.sizes();
      if (sizes == null || sizes.baselineMs() == null) return null;
      baseline += sizes.baselineMs();
      candidate += sizes.candidateMs();
    }
    return baseline / candidate;
  }
}
