package dev.kbx.timing;

import static dev.kbx.timing.Defaults.ALONE_BATCHES;

import dev.kbx.outcome.Outcome;
import dev.kbx.stats.Median;
import dev.kbx.worker.Oracle;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * A size timed as CUDA graphs. They are recorded on other values than they are timed with, and none
 * of the candidate's Python runs while they are replayed.
 */
final class ReplayedSize implements MeasuredSize {
  private final LaunchedSize launched;
  private final SizeRounds rounds;
  private final Series series;

  private ReplayedSize(LaunchedSize launched, SizeRounds rounds, Series series) {
    this.launched = launched;
    this.rounds = rounds;
    this.series = series;
  }

  /**
   * @param launched the earlier measurement of the same size
   * @param recorded the recorded calls
   */
  static Step<ReplayedSize> measure(LaunchedSize launched, SizeRounds rounds, JsonNode recorded)
      throws InterruptedException, Oracle.Refused {
    Series series = Series.replayed(recorded, rounds.sizes());
    Optional<Outcome> decided = rounds.run(series, () -> false);
    if (decided.isEmpty()) decided = rounds.impossible(series.samples());
    return decided
        .map(Step::<ReplayedSize>ended)
        .orElseGet(() -> Step.to(new ReplayedSize(launched, rounds, series)));
  }

  @Override
  public LaunchedSize launched() {
    return launched;
  }

  /**
   * Whether the reference's graphs take as long now that the candidate's process is gone. It looks
   * again where they do not, as one batch may be fast by chance.
   */
  @Override
  public boolean holds() throws InterruptedException, Oracle.Refused {
    JsonNode recorded = series.recorded();
    int sets = recorded == null ? 1 : recorded.size();
    double beside = series.samples().referenceMs();
    for (int i = 0; i < ALONE_BATCHES; i++) {
      Batch alone = rounds.graphsAlone(sets, series.lead());
      if (alone.failed() != null) return false;
      if (!BaselineInterference.slower(beside, Median.of(alone.deviceMs()))) return true;
    }
    return false;
  }

  @Override
  public SettledSize settle() {
    PairedSamples samples = series.samples();
    return new SettledSize(
        samples.logSpeedup(),
        rounds
            .physics()
            .timing(
                rounds.size(), samples, launched.samples(), series.conditions(), rounds.memory()),
        LaunchedSize.flags(series, rounds));
  }
}
