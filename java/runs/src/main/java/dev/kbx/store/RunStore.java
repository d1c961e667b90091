package dev.kbx.store;

import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.Verdict;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Runs and verdicts: in one SQLite file, or in a PostgreSQL database that a team shares.
 *
 * <p>Safe for several threads. When {@link #add} returns, the verdict survives a kill of this
 * process and a power failure ({@link #notDurable}). All methods throw {@link StoreProblem}.
 */
public interface RunStore extends AutoCloseable {
  /** Opens a store; creates or migrates its tables. */
  static RunStore open(StoreAddress address) {
    return JdbcStore.open(address.database());
  }

  /** Opens a store only if it exists. */
  static Optional<RunStore> openExisting(StoreAddress address) {
    return address.exists() ? Optional.of(open(address)) : Optional.empty();
  }

  /** Name for messages. */
  String label();

  /** What {@code kbx serve} keeps here. */
  ServiceStore service();

  /** The sessions of {@code kbx serve}. */
  SessionStore sessions();

  /**
   * Claims a run, or {@link ServiceStore#CLAIM}, for this process until the store is closed; before
   * anything of it is written. Throws {@link StoreProblem} if another process has it.
   *
   * <p>If the connection is lost, another process may take the claim. All that writes then throws
   * {@link ClaimLost}, and has written nothing; reading goes on.
   */
  void claim(String name);

  /** Throws {@link ClaimLost} if another process has taken what this store had claimed. */
  void checkClaims();

  /** Whether {@link ClaimLost} was thrown, or is next; asks nobody. */
  boolean claimLost();

  /** Why a power failure may lose what is stored, in one line; empty if it does not. */
  Optional<String> notDurable();

  /**
   * Whether a process has claimed a run. A store in a file knows of none: there the folder is
   * locked.
   */
  boolean isClaimed(String run);

  /** Claims a run that starts now, and records it. */
  void begin(RunInfo run);

  /** Records that a run has judged everything. */
  void finish(RunInfo run);

  /**
   * Changes a run's name and note, also while another process judges it.
   *
   * @return whether there is such a run
   */
  boolean label(String run, RunLabel label);

  /**
   * Stores one verdict, which is on disk when this returns.
   *
   * @param position place of the candidate in its run; a second verdict for it, or for the same
   *     candidate of the run, is refused
   * @param code the candidate's source; empty if a published result has none
   * @return the verdict as it is stored
   */
  Stored add(int position, Verdict verdict, String code);

  /** All runs, newest first. */
  List<RunInfo> runs();

  Optional<RunInfo> run(String id);

  /** Whether there is such a run, readable or not. */
  boolean has(String id);

  /** The judged candidates of a run, in no order. */
  List<Judged> judged(String run);

  /** How many verdicts a run has. */
  int count(String run);

  /** Every verdict of a run in the order of positions, one at a time. */
  void forEach(String run, Consumer<Stored> reader);

  /** What analyses need of every verdict of a run, in the order of positions, one at a time. */
  void forEachRow(String run, Consumer<VerdictQueries.Placed> reader);

  /** The verdict at a position of a run, which must have one there. */
  Verdict verdict(String run, int position);

  /** Verdicts of a run by position, all in memory; positions without one were not judged. */
  SortedMap<Integer, Verdict> verdicts(String run);

  /**
   * A judgement cached under one of these keys, if any.
   *
   * @param accepted whether a judgement on this device will do
   */
  Optional<Judgement> remembered(Collection<String> keys, Predicate<Verdict.Device> accepted);

  /**
   * Caches a judgement under a key, unless there is one of the same device already.
   *
   * @param candidate hash of its source; the judgement is deleted with the last verdict on it
   */
  void remember(String key, String candidate, Judgement judgement);

  /** The source of a candidate of a run; empty if a published result has none. */
  Optional<String> source(String candidate);

  /**
   * Deletes runs with their verdicts, and sources and judgements that no other run uses; on a
   * failure or a kill of this process, nothing.
   *
   * @return number of these runs that existed
   */
  int delete(List<String> runs);

  /** A judged candidate and its place in the run. */
  record Judged(int position, CandidateIdentity identity) {}

  /** Runs to copy from a store. */
  record Selection(RunStore from, List<RunInfo> runs) {
    /** All runs of a store, oldest first. */
    public static Selection all(RunStore from) {
      return new Selection(from, from.runs().reversed());
    }
  }

  /**
   * A copied or skipped run.
   *
   * @param from label of the store that it is from
   * @param verdicts number of its verdicts
   * @param added false if the same run existed
   */
  record Copied(String from, RunInfo run, int verdicts, boolean added) {}

  /**
   * Copies runs of other stores, with verdicts, sources and sessions; on a failure or a kill of
   * this process, none. Of a run that is there already, sessions and turns that are not. Cached
   * judgements are not copied: those of another installation are never reused. Throws {@link
   * RunConflict} if a different run has the same id.
   */
  List<Copied> copy(List<Selection> selections);

  /**
   * Compares what derives from other data with that data: columns with the verdicts beside them,
   * submissions with their verdicts, sources with what uses them. Reads every verdict.
   *
   * @return nothing if all is right
   */
  List<StoreFlaw> flaws();

  /** Makes anew what {@link #flaws} finds and can be; on a failure or a kill, nothing. */
  void mend();

  /** Counts and pages of its verdicts; usable until the store is closed. */
  VerdictQueries queries();

  @Override
  void close();
}
