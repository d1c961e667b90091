package dev.kbx.store;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Sessions, and what the referee found in their turns. Part of a {@link RunStore}, over its
 * connection; the same promises hold. The turns' kernels are {@linkplain ServiceStore#accept
 * submissions}.
 */
public interface SessionStore {
  /**
   * Begins a session, with the next free sample in place of its own.
   *
   * @return as it is stored
   */
  Session begin(Session session);

  Optional<Session> session(String id);

  /** The session of a client with that key. */
  Optional<Session> keyed(String client, String key);

  /** The newest session of a method of a run. */
  Optional<Session> newest(String run, String method);

  /** Number of open sessions of a client that began after a time. */
  int open(String client, Instant since);

  /** Stores how a session ended. */
  void end(Session session);

  /** The sessions of a run, in the order in which they began. */
  List<Session> of(String run);

  /** The turns of a session, in order. */
  List<Session.Turn> turns(String session);

  /** Whether a turn has its judgement. */
  boolean isJudged(String submission);

  /** Stores what the referee found in a turn. */
  void judged(String submission, String judgement, Instant at);
}
