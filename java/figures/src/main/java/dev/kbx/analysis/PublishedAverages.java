package dev.kbx.analysis;

import dev.kbx.verdict.BriefVerdict.Sizes;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Averages of all speedups as KernelBenchX computes them, for comparison with it only; otherwise
 * use {@link SetSpeedup}.
 *
 * @param global total milliseconds of the requested baseline over those of the candidates, on the
 *     same sizes: dominated by the slowest; null if the baseline times of a candidate are unknown
 * @param perTask arithmetic mean; null without speedups
 */
public record PublishedAverages(@Nullable Double global, @Nullable Double perTask) {
  /** Averages over the rows with a speedup. */
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
