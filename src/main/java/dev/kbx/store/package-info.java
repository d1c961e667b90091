/**
 * Runs and verdicts in a database: SQLite embedded in a results folder, or PostgreSQL for a team.
 * Start with {@link dev.kbx.store.RunStore}.
 *
 * <p>The store is the truth of a run; every file beside it can be made from it again.
 */
@NullMarked
package dev.kbx.store;

import org.jspecify.annotations.NullMarked;
