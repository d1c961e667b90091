/**
 * Judges candidates. {@link dev.kbx.judge.Judge} runs the stages of one candidate and decides;
 * {@link dev.kbx.judge.LocalReferee} calls it on a free slot; callers use {@link
 * dev.kbx.judge.Referee}.
 *
 * <p>Only this package orders stages and turns outcomes into judgements.
 */
@NullMarked
package dev.kbx.judge;

import org.jspecify.annotations.NullMarked;
