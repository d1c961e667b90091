/**
 * Turns the answers of processes into the outcome of a stage: {@link dev.kbx.outcome.Outcome}
 * classifies failures, {@link dev.kbx.outcome.Attribution} attributes results to kernels or library
 * calls.
 */
@NullMarked
package dev.kbx.outcome;

import org.jspecify.annotations.NullMarked;
