/**
 * How processes' answers become the outcome of a stage: {@link dev.kbx.outcome.Outcome} classifies
 * failures, {@link dev.kbx.outcome.Attribution} says who made a candidate's results.
 */
@NullMarked
package dev.kbx.outcome;

import org.jspecify.annotations.NullMarked;
