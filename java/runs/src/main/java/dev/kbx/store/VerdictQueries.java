package dev.kbx.store;

import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Counts and pages of the verdicts of a store, whose cost does not grow with the size of verdicts:
 * all but the rows that are asked for are read from indexes. They use connections of their own, so
 * that they do not wait for verdicts that are being stored.
 *
 * <p>Safe for several threads. All methods throw {@link StoreProblem}.
 */
public interface VerdictQueries {
  /** Runs, newest first, without the first {@code skip}. */
  List<RunInfo> runs(int skip, int most);

  /** Number of runs. */
  int runs();

  /** Runs that have not finished, newest first. */
  List<RunInfo> unfinished(int most);

  /** What was counted of these runs; a run without verdicts is absent. */
  Map<String, RunCounts> counts(List<String> runs);

  /** Number of verdicts that match. */
  int count(Filter filter);

  /** The verdicts that match, without the first {@code skip}. */
  List<Placed> page(Filter filter, Order order, int skip, int most);

  /** What verdicts of a suite are told apart by, the most frequent first. */
  List<Board> boards();

  /**
   * Outcomes on one board by method, model and task. Of the same sample in several runs and rounds
   * the last one counts.
   */
  List<Cell> cells(Board board);

  /** Outcomes of each task of a suite. */
  List<TaskCounts> tasks(String suite);

  /** How many verdicts on a task have each status. */
  Map<Status, Integer> statuses(String suite, String category, String task);

  /**
   * Correct candidates of a task that were faster than all before them on the same device, oldest
   * first.
   */
  List<Placed> records(String suite, String category, String task);

  /** Names that occur in a run's verdicts, for filters. */
  Names names(String run);

  /** The runs and places of verdicts on a source, newest first. */
  List<Placed> history(String candidate, int most);

  /** Reads all verdicts of a run, in order, a part at a time. */
  void forEach(String run, Consumer<Stored> reader);

  /** A verdict as stored. */
  Optional<Stored> stored(String run, int position);

  /** Order of a page. */
  enum Order {
    /** The order of the run. */
    POSITION,
    /** The newest run first, and in it the last position. */
    NEWEST
  }

  /**
   * Which verdicts; null for any.
   *
   * @param method {@code ""} where none is stated, as for {@code model}
   */
  record Filter(
      @Nullable String run,
      @Nullable String suite,
      @Nullable String category,
      @Nullable String task,
      @Nullable Status status,
      @Nullable String method,
      @Nullable String model) {
    /** All of a run. */
    public static Filter ofRun(String run) {
      return new Filter(run, null, null, null, null, null, null);
    }

    /** All of a task. */
    public static Filter ofTask(String suite, String category, String task) {
      return new Filter(null, suite, category, task, null, null, null);
    }
  }

  /** A verdict and its place in its run. */
  record Placed(int position, BriefVerdict verdict) {}

  /**
   * Counts of verdicts.
   *
   * @param judged those that say something about the candidate
   * @param called those that passed the call stage
   * @param correct those with status {@code correct}; {@code general} those of them that are right
   *     at the general grade
   * @param timed those of them with a speedup
   * @param solved number of tasks with a correct one
   * @param categories of all verdicts, by name
   */
  record RunCounts(
      int verdicts,
      int judged,
      int called,
      int correct,
      int general,
      int timed,
      int solved,
      Map<Status, Integer> statuses,
      List<CategoryCounts> categories) {
    /** The counts of a run without verdicts. */
    public static final RunCounts NONE = new RunCounts(0, 0, 0, 0, 0, 0, 0, Map.of(), List.of());
  }

  /** Counts of a category; {@code judged} may be 0. */
  record CategoryCounts(String category, int judged, int correct) {
    CategoryCounts and(CategoryCounts more) {
      return new CategoryCounts(category, judged + more.judged, correct + more.correct);
    }
  }

  /** Verdicts of one suite, judged at one grade on one kind of device. */
  record Board(String suite, @Nullable String grade, String device, int verdicts) {}

  /**
   * The samples of one method and model for one task.
   *
   * @param first whether its first judged sample is correct
   * @param general correct ones that are right at the general grade, too
   * @param timed correct ones with a speedup
   * @param faster correct ones more than 1 times as fast as the baseline; {@code twice} 2 times
   * @param baselines a baseline of the speedups, and another if there are several
   */
  record Cell(
      @Nullable String method,
      @Nullable String model,
      String category,
      String task,
      int samples,
      int correct,
      boolean first,
      int general,
      int timed,
      int faster,
      int twice,
      List<String> baselines) {}

  /**
   * The verdicts on one task.
   *
   * @param best the largest speedup of a correct one; null without
   */
  record TaskCounts(
      String category, String task, int verdicts, int correct, @Nullable Double best) {}

  /** Distinct names, sorted; a name that is not stated is {@code ""}. */
  record Names(List<String> methods, List<String> models) {}
}
