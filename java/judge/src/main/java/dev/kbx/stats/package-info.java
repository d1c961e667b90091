/**
 * Statistics: intervals of rates and ratios, summaries of timings. Start with {@link
 * dev.kbx.stats.Rate} and {@link dev.kbx.stats.Ratio}.
 *
 * <p>Numbers in, numbers out; every formula names its source. Usable as a library.
 */
@NullMarked
package dev.kbx.stats;

import org.jspecify.annotations.NullMarked;
