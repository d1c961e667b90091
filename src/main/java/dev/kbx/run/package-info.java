/**
 * Runs: candidates join one while it goes on ({@link dev.kbx.run.RunService}), each distinct one is
 * judged once ({@link dev.kbx.run.RememberingReferee}), and a run that was cut off goes on.
 */
@NullMarked
package dev.kbx.run;

import org.jspecify.annotations.NullMarked;
