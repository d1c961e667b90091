/**
 * Runs. Candidates are submitted to a {@link dev.kbx.run.RunService}, and {@link
 * dev.kbx.run.RememberingReferee} judges each distinct one once. An interrupted run can be resumed.
 */
@NullMarked
package dev.kbx.run;

import org.jspecify.annotations.NullMarked;
