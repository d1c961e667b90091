package dev.kbx.store;

import dev.kbx.verdict.CandidateIdentity;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A candidate that kbx serve has accepted.
 *
 * @param id sorts by the time of acceptance
 * @param client name of who submitted it
 * @param key the client's own key; no other submission of that client has it
 * @param run id of the run that its verdict is in
 * @param acceptedFor the run that it was accepted for; null if that is the same
 * @param conditions as in a provenance
 * @param origin as the source of a provenance
 * @param priority higher goes first
 * @param deadline after which it is not judged
 * @param session id of the session that it is a turn or the answer of; null for all others
 */
public record Submission(
    String id,
    String client,
    @Nullable String key,
    String run,
    @Nullable String acceptedFor,
    CandidateIdentity identity,
    Map<String, String> conditions,
    String origin,
    int priority,
    Instant submitted,
    @Nullable Instant deadline,
    @Nullable String session,
    Outcome outcome) {

  /** What became of it. */
  public enum State {
    QUEUED,
    DONE,
    CANCELLED,
    EXPIRED,
    FAILED
  }

  /**
   * What became of it so far.
   *
   * @param position of its verdict in the run; null without one
   * @param cached whether its judgement was known before it was judged
   * @param waited seconds until it was judged
   * @param message why it failed, expired, waits for another server, or is judged in another run
   */
  public record Outcome(
      State state,
      @Nullable Integer position,
      boolean cached,
      @Nullable Double waited,
      @Nullable String message) {
    /** The outcome of a submission that is queued. */
    public static final Outcome NONE = new Outcome(State.QUEUED, null, false, null, null);
  }

  public State state() {
    return outcome.state();
  }

  /** Whether it is a turn of a session, which is judged on development inputs. */
  public boolean isTurn() {
    return session != null && identity.round() != null;
  }

  /** The run that it was accepted for. */
  public String firstRun() {
    return acceptedFor == null ? run : acceptedFor;
  }

  /** This submission with its verdict. */
  public Submission done(int place, boolean known, @Nullable Double seconds) {
    return with(
        run, conditions, origin, new Outcome(State.DONE, place, known, seconds, outcome.message()));
  }

  /** This turn, judged. */
  public Submission judged(boolean known, @Nullable Double seconds) {
    return with(
        run, conditions, origin, new Outcome(State.DONE, null, known, seconds, outcome.message()));
  }

  /** This submission, ended without a verdict. */
  public Submission ended(State end, @Nullable String why) {
    return with(run, conditions, origin, new Outcome(end, null, outcome.cached(), null, why));
  }

  /** This submission without what can be read again when it is judged, which may be long. */
  public Submission brief() {
    return with(run, Map.of(), "", outcome);
  }

  /** This submission, still to be judged, in this run. */
  public Submission in(String judgedIn, @Nullable String why) {
    return with(judgedIn, conditions, origin, new Outcome(State.QUEUED, null, false, null, why));
  }

  private Submission with(
      String judgedIn, Map<String, String> provenance, String source, Outcome now) {
    return new Submission(
        id,
        client,
        key,
        judgedIn,
        firstRun().equals(judgedIn) ? null : firstRun(),
        identity,
        provenance,
        source,
        priority,
        submitted,
        deadline,
        session,
        now);
  }
}
