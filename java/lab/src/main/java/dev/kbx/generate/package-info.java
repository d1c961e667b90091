/**
 * Runs methods: sends their prompts, extracts and judges what comes back, keeps every event in a
 * {@link dev.kbx.generate.Ledger}, and stops at budgets. {@link dev.kbx.generate.Generation} is
 * where to begin.
 */
@NullMarked
package dev.kbx.generate;

import org.jspecify.annotations.NullMarked;
