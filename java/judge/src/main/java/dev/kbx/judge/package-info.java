/**
 * Judges candidates. {@link dev.kbx.judge.Judge} runs the stages of one candidate and decides;
 * {@link dev.kbx.judge.LocalReferee} calls it on a free slot; callers use {@link
 * dev.kbx.judge.Referee}.
 *
 * <p>{@link dev.kbx.judge.WorkQueue} holds what waits to be judged, for a server or a cluster;
 * {@link dev.kbx.judge.Dispatcher} has the threads that judge a list or a run.
 *
 * <p>Only this package orders stages and turns outcomes into judgements.
 */
@NullMarked
package dev.kbx.judge;

import org.jspecify.annotations.NullMarked;
