package dev.kbx.analysis;

import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The candidates of one method, model and round in a run. Samples of a task are numbered within a
 * series.
 *
 * @param method null if the source does not state it, as are {@code model} and {@code round}
 * @param tasks number of tasks that the run asked for
 * @param submitted number of those with a verdict
 * @param candidates number of counted verdicts
 * @param notJudged counted verdicts that say nothing about the candidate, because kbx or the task
 *     failed
 * @param extra uncounted verdicts, on variants of published tasks
 * @param unfinished candidates without a verdict, as the run was interrupted
 * @param scaled candidates judged on smaller inputs than published
 */
public record Series(
    RunInfo run,
    @Nullable String method,
    @Nullable String model,
    @Nullable Integer round,
    int tasks,
    int submitted,
    int candidates,
    int notJudged,
    int extra,
    int unfinished,
    int scaled) {

  /** A series with its rows, sorted by category, task and sample. */
  record Members(Series series, SelectedTasks asked, List<VerdictRow> rows) {}

  private record Key(@Nullable String method, @Nullable String model, @Nullable Integer round)
      implements Comparable<Key> {
    private static final Comparator<Key> ORDER =
        Comparator.comparing(Key::method, Comparator.nullsFirst(Comparator.naturalOrder()))
            .thenComparing(Key::model, Comparator.nullsFirst(Comparator.naturalOrder()))
            .thenComparing(Key::round, Comparator.nullsFirst(Comparator.naturalOrder()));

    static Key of(VerdictRow verdict) {
      return new Key(verdict.method(), verdict.model(), verdict.round());
    }

    @Override
    public int compareTo(Key other) {
      return ORDER.compare(this, other);
    }
  }

  /** All series of a run, by method, model and round; one empty series if it has no verdict. */
  static List<Members> of(JudgedRun run, SelectedTasks asked) {
    Map<Key, List<VerdictRow>> series =
        Tally.sorted(run.rows()).stream()
            .collect(Collectors.groupingBy(Key::of, TreeMap::new, Collectors.toList()));
    if (series.isEmpty()) series.put(new Key(null, null, null), List.of());
    List<Members> all = new ArrayList<>();
    series.forEach((key, verdicts) -> all.add(members(run, asked, key, verdicts)));
    return all;
  }

  private static Members members(
      JudgedRun run, SelectedTasks asked, Key key, List<VerdictRow> verdicts) {
    List<VerdictRow> counted = verdicts.stream().filter(asked::has).toList();
    int judged = Math.toIntExact(counted.stream().filter(VerdictRow::judged).count());
    Series series =
        new Series(
            run.run(),
            key.method(),
            key.model(),
            key.round(),
            asked.total(),
            Math.toIntExact(Tally.tasksOf(counted, _ -> true)),
            counted.size(),
            counted.size() - judged,
            verdicts.size() - counted.size(),
            Math.max(0, run.run().candidates() - run.rows().size()),
            Tally.scaled(counted));
    return new Members(series, asked, counted);
  }
}
