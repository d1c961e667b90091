/**
 * The verdict on a candidate: {@link dev.kbx.verdict.Verdict}, its {@link dev.kbx.verdict.Status}
 * and {@link dev.kbx.verdict.Stage}, and their JSON form. Start with {@code Verdict}.
 *
 * <p>Plain data. Nothing here runs, stores, computes statistics or prints.
 */
@NullMarked
package dev.kbx.verdict;

import org.jspecify.annotations.NullMarked;
