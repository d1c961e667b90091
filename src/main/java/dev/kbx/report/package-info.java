/**
 * What people and scripts read: {@code results.jsonl}, {@code metrics.json}, {@code summary.json},
 * {@code report.html}, KernelBench's {@code eval_results.json} and run folders, and the terminal's
 * table. Start with {@link dev.kbx.report.ResultFiles}.
 *
 * <p>Renders verdicts and what {@code analysis} makes of them; never judges, computes no figures,
 * never queries processes.
 */
@NullMarked
package dev.kbx.report;

import org.jspecify.annotations.NullMarked;
