package dev.kbx.analysis;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Runs that are analysed as one set; several analyses share what they find out about it. */
public final class SelectedRuns {
  private final List<SelectedRun> runs;
  private final Map<Pool.Rounds, Pool> pools = new EnumMap<>(Pool.Rounds.class);

  /**
   * @param runs at least one, all of one suite
   */
  public SelectedRuns(List<SelectedRun> runs) {
    this.runs = List.copyOf(runs);
  }

  /** One run, of which nothing is known of the tasks but that they were asked for. */
  public static SelectedRuns of(JudgedRun judged, SelectedTasks asked) {
    return new SelectedRuns(List.of(new SelectedRun(judged, asked, Map.of())));
  }

  public List<SelectedRun> runs() {
    return runs;
  }

  /** The verdicts of all runs. */
  public List<VerdictRow> rows() {
    return runs.stream().flatMap(run -> run.judged().rows().stream()).toList();
  }

  /** The candidates of the runs. */
  synchronized Pool pool(Pool.Rounds rounds) {
    return pools.computeIfAbsent(rounds, _ -> Pool.of(runs, rounds));
  }
}
