/**
 * Runs: the pipeline that takes a candidate through its stages ({@link dev.kbx.run.Judge}), the
 * schedule over slots ({@link dev.kbx.run.Dispatcher}) and what makes a run resumable ({@link
 * dev.kbx.run.Evaluation}).
 *
 * <p>The one place where stages are ordered and answers become verdicts.
 */
@NullMarked
package dev.kbx.run;

import org.jspecify.annotations.NullMarked;
