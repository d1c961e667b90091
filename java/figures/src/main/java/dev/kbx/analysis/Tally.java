package dev.kbx.analysis;

import dev.kbx.stats.Rate;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Counts over the rows of a run, shared by all outputs so that they agree.
 *
 * @param call whether the call stage was requested
 * @param correct whether the correctness stage was requested
 * @param general whether the general rate is another than that of correct ones
 * @param perf whether candidates were timed
 * @param asked the tasks that count; rates exclude candidates of other tasks (variants)
 */
public record Tally(
    boolean call, boolean correct, boolean general, boolean perf, SelectedTasks asked) {

  /**
   * Passes of a group of candidates by stage.
   *
   * @param name name of the category or group
   * @param candidates number of candidates
   * @param notJudged candidates without a result, because the task or kbx was at fault; not in the
   *     rates
   * @param memory candidates that were refused because of {@linkplain Status#ofMemory what launches
   *     do to memory}
   * @param call null if that stage was not measured
   * @param values right results, whoever computed them and however timing ended; {@code correct}
   *     asks that, too
   * @param general correct, and right at the general grade, too; null also where that is not known
   *     of one that is correct
   */
  public record Passes(
      String name,
      int candidates,
      int notJudged,
      int memory,
      @Nullable Rate call,
      @Nullable Rate values,
      @Nullable Rate correct,
      @Nullable Rate general,
      @Nullable Rate perf) {}

  /** The tally of a run; {@linkplain RunInfo#ofChanges Published changes alone} have no rates. */
  public static Tally of(RunInfo run, List<VerdictRow> rows, SelectedTasks asked) {
    boolean timed = rows.stream().anyMatch(row -> row.perfOk() != null);
    boolean gpu = !run.device().onCpu();
    if (run.ofChanges()) return new Tally(false, false, false, false, asked);
    return new Tally(
        run.stages().contains(Stage.CALL),
        run.stages().contains(Stage.CORRECT),
        run.stages().contains(Stage.CORRECT) && run.hasTwoGrades(),
        run.stages().contains(Stage.PERF) && (gpu || timed),
        asked);
  }

  /** Sorts by category, task and sample: the order of every output. */
  static List<VerdictRow> sorted(List<VerdictRow> rows) {
    return rows.stream()
        .sorted(
            Comparator.comparing(VerdictRow::category)
                .thenComparing(VerdictRow::task)
                .thenComparingInt(VerdictRow::sample))
        .toList();
  }

  /** Statuses that occur, in the enum's order. */
  public static Map<Status, Integer> byStatus(Collection<VerdictRow> rows) {
    var counts = new EnumMap<Status, Integer>(Status.class);
    for (VerdictRow row : rows) counts.merge(row.status(), 1, Integer::sum);
    return counts;
  }

  /** Categories that occur, by name; rates are over the candidates judged. */
  public List<Passes> byCategory(Collection<VerdictRow> rows) {
    Map<String, List<VerdictRow>> categories =
        counted(rows).stream()
            .collect(
                Collectors.groupingBy(VerdictRow::category, TreeMap::new, Collectors.toList()));
    return categories.entrySet().stream().map(e -> candidates(e.getKey(), e.getValue())).toList();
  }

  /** All candidates that count, as one group. */
  public Passes candidates(String name, Collection<VerdictRow> rows) {
    List<VerdictRow> counted = counted(rows);
    List<VerdictRow> judged = counted.stream().filter(VerdictRow::judged).toList();
    return new Passes(
        name,
        counted.size(),
        counted.size() - judged.size(),
        Math.toIntExact(count(judged, row -> row.status().ofMemory())),
        call ? rate(count(judged, VerdictRow::called), judged.size()) : null,
        correct ? rate(count(judged, VerdictRow::valuesOk), judged.size()) : null,
        correct ? rate(count(judged, VerdictRow::correct), judged.size()) : null,
        knowsGeneral(judged) ? rate(count(judged, Tally::holds), judged.size()) : null,
        perf ? rate(count(judged, VerdictRow::timed), judged.size()) : null);
  }

  /** Tasks with at least one passing candidate, over those with a judged one. */
  public Passes tasks(String name, Collection<VerdictRow> rows) {
    return tasks(name, rows, Math.toIntExact(tried(rows)));
  }

  /** The same over all tasks of the suite. */
  public Passes suite(String name, Collection<VerdictRow> rows) {
    return tasks(name, rows, asked.total());
  }

  private Passes tasks(String name, Collection<VerdictRow> rows, int tasks) {
    List<VerdictRow> counted = counted(rows);
    return new Passes(
        name,
        counted.size(),
        Math.toIntExact(counted.stream().filter(row -> !row.judged()).count()),
        Math.toIntExact(tasksOf(counted, row -> row.status().ofMemory())),
        call ? rate(tasksOf(counted, VerdictRow::called), tasks) : null,
        correct ? rate(tasksOf(counted, VerdictRow::valuesOk), tasks) : null,
        correct ? rate(tasksOf(counted, VerdictRow::correct), tasks) : null,
        knowsGeneral(counted) ? rate(tasksOf(counted, Tally::holds), tasks) : null,
        perf ? rate(tasksOf(counted, VerdictRow::timed), tasks) : null);
  }

  private boolean knowsGeneral(List<VerdictRow> rows) {
    return correct && rows.stream().noneMatch(row -> row.correct() && row.generalOk() == null);
  }

  private static boolean holds(VerdictRow row) {
    return row.correct() && Objects.equals(row.generalOk(), true);
  }

  /** How many of the tasks asked for have a judged candidate: what rates are of. */
  public long tried(Collection<VerdictRow> rows) {
    return tasksOf(counted(rows), VerdictRow::judged);
  }

  /** How many of the tasks asked for have a candidate. */
  public long submitted(Collection<VerdictRow> rows) {
    return tasksOf(counted(rows), _ -> true);
  }

  /** Whether the published rules call others correct than kbx does. */
  public boolean hasOtherRightValues(Collection<VerdictRow> rows) {
    return correct && rows.stream().anyMatch(r -> asked.has(r) && r.valuesOk() != r.correct());
  }

  /** Rows of the tasks asked for. */
  public List<VerdictRow> counted(Collection<VerdictRow> rows) {
    return rows.stream().filter(asked::has).toList();
  }

  /** Number of candidates of variants, which are in no rate. */
  public int extra(Collection<VerdictRow> rows) {
    return rows.size() - counted(rows).size();
  }

  /** Different tasks with a row that {@code wanted} accepts. */
  static long tasksOf(Collection<VerdictRow> rows, Predicate<VerdictRow> wanted) {
    return rows.stream().filter(wanted).map(VerdictRow::path).distinct().count();
  }

  /** Number of candidates judged on smaller inputs than published. */
  public static int scaled(Collection<VerdictRow> rows) {
    return Math.toIntExact(rows.stream().filter(VerdictRow::scaled).count());
  }

  /**
   * Number of candidates, including variants, that passed the first {@code stages} of call, correct
   * and perf. As in the published figures, whoever computed: only what kbx calls correct is timed.
   */
  public static long passes(Collection<VerdictRow> rows, int stages) {
    return count(
        rows, row -> row.called() && (stages < 2 || row.valuesOk()) && (stages < 3 || row.timed()));
  }

  private static long count(Collection<VerdictRow> rows, Predicate<VerdictRow> wanted) {
    return rows.stream().filter(wanted).count();
  }

  private static @Nullable Rate rate(long passes, long total) {
    return total == 0 ? null : new Rate(passes, total);
  }
}
