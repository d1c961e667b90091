/**
 * Runs and verdicts in a database: SQLite embedded in a results folder, or PostgreSQL for a team.
 * Start with {@link dev.kbx.store.RunStore}.
 *
 * <p>The store is the source of truth of a run; every result file can be made again from it.
 */
@NullMarked
package dev.kbx.store;

import org.jspecify.annotations.NullMarked;
