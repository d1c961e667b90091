/**
 * The stages of one candidate ({@link dev.kbx.judge.Judge}) and who has them done: {@link
 * dev.kbx.judge.Referee}, on this machine {@link dev.kbx.judge.LocalReferee}.
 *
 * <p>The one place where stages are ordered and answers become judgements.
 */
@NullMarked
package dev.kbx.judge;

import org.jspecify.annotations.NullMarked;
