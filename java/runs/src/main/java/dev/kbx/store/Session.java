package dev.kbx.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A session of {@code kbx serve}: several turns at one task.
 *
 * @param id sorts by the time at which it began
 * @param client name of who began it
 * @param key the client's own key; no other session of that client has it
 * @param run id of the run that the verdict on its answer is in
 * @param task {@code Category/name}
 * @param method name of the method in the run
 * @param sample number among the sessions of that method at the task in the run, from 0
 * @param settings of the method, in JSON
 * @param start the kernel to begin from; null to begin from nothing
 */
public record Session(
    String id,
    String client,
    @Nullable String key,
    String run,
    String suite,
    String task,
    String method,
    int sample,
    String settings,
    @Nullable String start,
    Instant begun,
    End end) {

  /** What became of it. */
  public enum State {
    /** Turns are taken. */
    OPEN,
    /** It has an answer, which is judged on held-out inputs. */
    ANSWERED,
    /** It was ended without an answer. */
    CLOSED
  }

  /**
   * How it stands.
   *
   * @param at when it ended; null while it is open
   * @param answer number of the turn whose kernel is the answer; null if there is none
   * @param why that one, in words; null without an answer
   */
  public record End(
      State state, @Nullable Instant at, @Nullable Integer answer, @Nullable String why) {
    /** Of a session that is open. */
    public static final End OPEN = new End(State.OPEN, null, null, null);
  }

  /** This session, ended. */
  public Session ended(End how) {
    return new Session(
        id, client, key, run, suite, task, method, sample, settings, start, begun, how);
  }

  /**
   * A turn: a kernel of a session.
   *
   * @param submission its round is the turn's number
   * @param judgement on development inputs, in JSON; null before it is judged
   * @param judged when; null as before
   */
  public record Turn(Submission submission, @Nullable String judgement, @Nullable Instant judged) {
    /** From 0. */
    public int number() {
      Integer round = submission.identity().round();
      if (round == null) throw new IllegalStateException(submission.id() + " is not a turn");
      return round;
    }
  }
}
