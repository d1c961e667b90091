/**
 * Figures of judged runs: rates, pass@k, fast_p, comparison, portability, noise, throughput. Start
 * with their input: {@link dev.kbx.analysis.VerdictRow} and {@link dev.kbx.analysis.JudgedRun}.
 *
 * <p>Pure functions over rows: they read no file and no store, start nothing, and format nothing.
 * {@code report} shows what they return.
 */
@NullMarked
package dev.kbx.analysis;

import org.jspecify.annotations.NullMarked;
