/**
 * Candidate kernels and the files they come from: Python files, folders, KernelBenchX predictions,
 * KernelBench's run folders. Start with {@link dev.kbx.candidate.CandidateSources}.
 *
 * <p>Reading only. Rows that cannot be used become {@link dev.kbx.candidate.Problem}s; they never
 * stop the rest.
 */
@NullMarked
package dev.kbx.candidate;

import org.jspecify.annotations.NullMarked;
