package dev.kbx.timing;

import dev.kbx.stats.LogMean;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.Set;

/**
 * What one size came to.
 *
 * @param flags observations for the verdict's {@code flags}
 */
record SettledSize(LogMean logSpeedup, SizeTiming timing, Set<String> flags) {}
