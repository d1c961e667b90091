package dev.kbx.store;

import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Consumer;

/**
 * Runs and verdicts: in one SQLite file, or in a PostgreSQL database that a team shares.
 *
 * <p>Safe for use by several threads. A verdict is on disk when {@link #add} returns, in the sense
 * that killing this process loses nothing. All methods throw {@link StoreProblem}.
 */
public interface RunStore extends AutoCloseable {
  /** Opens a store, made or migrated as needed. */
  static RunStore open(StoreAddress address) {
    return JdbcStore.open(address.database());
  }

  /** Opens a store only if it exists. */
  static Optional<RunStore> openExisting(StoreAddress address) {
    return address.exists() ? Optional.of(open(address)) : Optional.empty();
  }

  /** As messages name it. */
  String label();

  /**
   * Takes a run for this process alone, until the store is closed. Throws {@link StoreProblem}
   * where another process has it.
   */
  void claim(String run);

  /** Records a run that starts now. */
  void begin(RunInfo run);

  /** Records that a run has judged everything. */
  void finish(RunInfo run);

  /**
   * Records one verdict, which is on disk when this returns.
   *
   * @param position place of the candidate in its run; a second verdict for it, or for the same
   *     candidate of the run, is refused
   * @param code the candidate's source
   * @return the verdict as it is stored
   */
  Stored add(int position, Verdict verdict, String code);

  /** All runs, newest first. */
  List<RunInfo> runs();

  Optional<RunInfo> run(String id);

  /** Whether there is such a run, readable or not. */
  boolean has(String id);

  /** What a run has judged, in no order. */
  List<Judged> judged(String run);

  /** How many verdicts a run has. */
  int count(String run);

  /** Every verdict of a run in the order of positions, one at a time. */
  void forEach(String run, Consumer<Stored> reader);

  /** The verdict at a position of a run, which must have one there. */
  Verdict verdict(String run, int position);

  /** Verdicts of a run by position, all in memory; positions without one were not judged. */
  SortedMap<Integer, Verdict> verdicts(String run);

  /** A judgement that was kept under this key. */
  Optional<Judgement> remembered(String key);

  /**
   * Keeps a judgement under a key; one that is there already stays.
   *
   * @param candidate hash of its source: once no run has a verdict on it, it is forgotten
   */
  void remember(String key, String candidate, Judgement judgement);

  /** The source of a candidate judged here. */
  Optional<String> source(String candidate);

  /**
   * Deletes runs with their verdicts, and sources and judgements that no other run has, or, on a
   * failure or a kill of this process, nothing.
   *
   * @return how many of the runs there were
   */
  int delete(List<String> runs);

  /** Which candidate was judged, and its place in the run. */
  record Judged(int position, CandidateIdentity identity) {}

  /**
   * A run that was to be copied.
   *
   * @param verdicts how many it has
   * @param added false when the very same run was there
   */
  record Copied(RunInfo run, int verdicts, boolean added) {}

  /**
   * Brings runs of another store in, with verdicts and sources, or, on a failure or a kill of this
   * process, none. What is remembered stays where it was judged. Throws {@link RunConflict} where a
   * different run has the same id.
   */
  List<Copied> copy(RunStore from, List<RunInfo> runs);

  @Override
  void close();
}
