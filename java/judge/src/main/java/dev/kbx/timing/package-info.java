/**
 * Times candidates beside the reference. {@link dev.kbx.timing.Timing} measures each size in paired
 * rounds ({@link dev.kbx.timing.PairedSamples}) and checks claimed times against the wall clock and
 * physical limits; {@link dev.kbx.timing.Comparison} adds compiled baselines.
 */
@NullMarked
package dev.kbx.timing;

import org.jspecify.annotations.NullMarked;
