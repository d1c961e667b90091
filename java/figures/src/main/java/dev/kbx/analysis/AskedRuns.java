package dev.kbx.analysis;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Runs that are analysed as one set; several analyses share what they find out about it. */
public final class AskedRuns {
  private final List<AskedRun> runs;
  private final Map<Pool.Rounds, Pool> pools = new EnumMap<>(Pool.Rounds.class);

  /**
   * @param runs at least one, all of one suite
   */
  public AskedRuns(List<AskedRun> runs) {
    this.runs = List.copyOf(runs);
  }

  /** One run, of which nothing is known of the tasks but that they were asked for. */
  public static AskedRuns of(JudgedRun judged, AskedTasks asked) {
    return new AskedRuns(List.of(new AskedRun(judged, asked, Map.of())));
  }

  public List<AskedRun> runs() {
    return runs;
  }

  /** Their candidates. */
  synchronized Pool pool(Pool.Rounds rounds) {
    return pools.computeIfAbsent(rounds, _ -> Pool.of(runs, rounds));
  }
}
