/**
 * How long a candidate takes beside the reference: {@link dev.kbx.timing.Timing} measures size by
 * size in paired rounds ({@link dev.kbx.timing.PairedSamples}), holds claims against clocks and
 * physics, and compares with compiled baselines.
 */
@NullMarked
package dev.kbx.timing;

import org.jspecify.annotations.NullMarked;
