package dev.kbx.timing;

import dev.kbx.stats.LogMean;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.Set;

/**
 * The final result of one size.
 *
 * @param flags observations for the verdict's {@code flags}
 */
record SettledSize(LogMean logSpeedup, SizeTiming timing, Set<String> flags) {}
