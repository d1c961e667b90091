/**
 * Results as others published them: KernelBench-X's corpus and result files, KernelBench's results,
 * traces of flashinfer-bench, files of GEAK and KernelAgent. Start with {@link
 * dev.kbx.published.PublishedFormat#read}.
 *
 * <p>Reading only, and nothing is judged: an outcome is what a record states. A record that cannot
 * be used becomes a {@link dev.kbx.candidate.Problem} with its line.
 */
@NullMarked
package dev.kbx.published;

import org.jspecify.annotations.NullMarked;
