/**
 * Result files, pages and tables: {@code results.jsonl}, {@code metrics.json}, {@code
 * summary.json}, {@code report.html}, KernelBench's {@code eval_results.json} and run folders, and
 * the terminal's table. Start with {@link dev.kbx.report.ResultFiles}.
 *
 * <p>Renders verdicts and the figures that {@code analysis} computes; judges and computes nothing
 * itself.
 */
@NullMarked
package dev.kbx.report;

import org.jspecify.annotations.NullMarked;
