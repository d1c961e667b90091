package dev.kbx.store;

import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What {@code kbx serve} keeps beside runs and verdicts: what it accepted, tokens, and who did
 * what. Part of a {@link RunStore}, over its connection; the same promises hold.
 */
public interface ServiceStore {
  /** What a server claims: one at a time judges what a store has accepted. */
  String CLAIM = "of kbx serve";

  /**
   * Stores all of them, or none.
   *
   * @param again those that are stored as failed, as they are now; one that has been retried
   *     meanwhile stays as it is
   * @param sources of the candidates, by hash
   */
  void accept(
      List<Submission> fresh, List<Submission> again, Map<String, String> sources, Audit audit);

  /**
   * Writes a little. Throws {@link StoreProblem} if nothing can be written, or there is soon no
   * room.
   */
  void probe();

  /** Stores what became of submissions. */
  void settle(List<Submission> submissions);

  /** Stores in which runs submissions are judged, and why, of those that are still queued. */
  void assign(List<Submission> submissions);

  /** All that are queued, whether or not they have a verdict, in the order of acceptance. */
  List<Submission> queued();

  /** The submissions with these ids, in no order. */
  List<Submission> submissions(List<String> ids);

  /** A submission with all that judging its candidate takes. */
  Optional<Work> work(String id);

  /** The submissions with these keys of a client, by key. */
  Map<String, Submission> keyed(String client, Collection<String> keys);

  /**
   * A page of all but the turns of sessions, newest first.
   *
   * @param run null for all runs
   * @param state null for all states
   * @param before only what was accepted before this id; null for the newest
   */
  List<Submission> submissions(
      @Nullable String run, Submission.@Nullable State state, @Nullable String before, int limit);

  /**
   * The positions of the verdicts on candidates of a run; what has none, or one with status {@code
   * infrastructure}, is absent.
   */
  Map<CandidateIdentity, Integer> judged(String run, Collection<CandidateIdentity> identities);

  /** The position after all verdicts of a run. */
  int end(String run);

  /**
   * Stores the verdict on a candidate that was accepted, whose source is stored.
   *
   * @param again whether it replaces one at that position
   * @see RunStore#add
   */
  Stored add(int position, Verdict verdict, boolean again);

  /** The verdicts at these positions of a run. */
  List<Stored> verdicts(String run, List<Integer> positions);

  /**
   * A page of a run's verdicts, by position.
   *
   * @param status null for all
   * @param task a name or {@code Category/name}; null for all
   */
  List<Stored> verdicts(
      String run, @Nullable String status, @Nullable String task, int from, int limit);

  /** Positions of a run's verdicts from this one on, ascending. */
  List<Integer> positions(String run, int from);

  /** The run of the service with these settings. */
  Optional<ServiceRun> serviceRun(String settings);

  /** The settings of a run of the service. */
  Optional<ServiceRun> serviceRunOf(String run);

  /** Begins a run of the service. */
  void begin(ServiceRun service, RunInfo run);

  /** Stores a token; false if there is one of that name that was revoked, or has not expired. */
  boolean addToken(Token token);

  List<Token> tokens();

  /** Ends a token; false if there is none of that name that is valid. */
  boolean revokeToken(String name, Instant at);

  void audit(Audit audit);

  /** The newest, newest first. */
  List<Audit> audits(int limit);

  /**
   * A run that the service keeps open.
   *
   * @param settings all that distinguishes it
   * @param name given by clients
   * @param plan its settings in JSON, as clients give them
   */
  record ServiceRun(String settings, String run, String name, String plan) {}

  /**
   * What is judged next.
   *
   * @param place of the verdict that its run has on the candidate; null for none
   */
  record Work(Submission submission, String code, @Nullable Place place) {}

  /**
   * Where a verdict is.
   *
   * @param stands false if its status is {@code infrastructure}, which says nothing about the
   *     candidate
   */
  record Place(int position, boolean stands) {}

  /**
   * Who may ask.
   *
   * @param hash SHA-256 of the token, hex
   * @param expires from when on it is refused; null for never
   * @param revoked null while it is not
   */
  record Token(
      String name,
      String hash,
      List<String> scopes,
      Instant created,
      @Nullable Instant expires,
      @Nullable Instant revoked) {
    public Token {
      scopes = List.copyOf(scopes);
    }
  }

  /** Who did what. */
  record Audit(Instant at, String client, String action, String detail) {}
}
