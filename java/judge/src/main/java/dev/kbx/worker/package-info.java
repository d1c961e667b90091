/**
 * The process protocol: frames, messages, and the Python processes behind them ({@link
 * dev.kbx.worker.Oracle}, {@link dev.kbx.worker.Zygote}, {@link dev.kbx.worker.Runner}). Start with
 * {@link dev.kbx.worker.Message}.
 *
 * <p>Implements the exchange only: {@code dev.kbx.judge} orders the stages, {@code dev.kbx.outcome}
 * interprets answers.
 */
@NullMarked
package dev.kbx.worker;

import org.jspecify.annotations.NullMarked;
