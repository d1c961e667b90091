package dev.kbx.timing;

import static dev.kbx.timing.Defaults.HELD_BACK;

import dev.kbx.outcome.Outcome;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * A size timed by calls launched from Python. If it is launch-bound and both sides can be recorded,
 * it is timed again as CUDA graphs.
 */
final class LaunchedSize implements MeasuredSize {
  private final SizeRounds rounds;
  private final Series series;

  private LaunchedSize(SizeRounds rounds, Series series) {
    this.rounds = rounds;
    this.series = series;
  }

  /**
   * Times a size.
   *
   * @param provisional whether {@link #replay} follows for a launch-bound size: then only this
   *     measurement shows launch cost
   */
  static Step<LaunchedSize> measure(SizeRounds rounds, boolean provisional)
      throws InterruptedException, Oracle.Refused {
    boolean waits = provisional && rounds.quiet().launchBound(rounds.size());
    HostRunAhead lead = waits ? HostRunAhead.NONE : HostRunAhead.LAUNCHES;
    return new LaunchedSize(rounds, Series.launched(lead, rounds.sizes())).measure(provisional);
  }

  /**
   * Continues to a full measurement, if only a few rounds were taken because {@link #replay} was to
   * follow.
   */
  Step<LaunchedSize> further() throws InterruptedException, Oracle.Refused {
    return series.lead() == HostRunAhead.NONE ? measure(rounds, false) : measure(false);
  }

  private Step<LaunchedSize> measure(boolean provisional)
      throws InterruptedException, Oracle.Refused {
    Optional<Outcome> decided = rounds.run(series, () -> provisional && launchBound());
    if (decided.isPresent()) return Step.ended(decided.get());
    rounds.quiet().compare(rounds.size(), series.lead(), series.samples().referenceMs());
    return rounds
        .impossible(series.samples())
        .map(Step::<LaunchedSize>ended)
        .orElseGet(() -> Step.to(this));
  }

  /** Whether {@link #replay} is useful. */
  boolean launchBound() {
    return series.lead() == HostRunAhead.NONE || series.samples().launchBound();
  }

  int index() {
    return rounds.size().index();
  }

  /**
   * Times the size as CUDA graphs. An outcome {@code cheating} or {@code not_a_kernel} is final;
   * {@code infrastructure} means that the reference cannot be recorded; any other that the
   * candidate cannot be, whose process must not be used any more.
   */
  Step<ReplayedSize> replay() throws InterruptedException, Oracle.Refused {
    return switch (rounds.record(series.lead())) {
      case Step.Ended<JsonNode>(Outcome outcome) -> Step.ended(outcome);
      case Step.To<JsonNode>(JsonNode calls) -> ReplayedSize.measure(this, rounds, calls);
    };
  }

  /** Whether the reference can be recorded now that the candidate's process is gone. */
  boolean records() throws InterruptedException, Oracle.Refused {
    return rounds.graphsAlone(rounds.recordedCalls(series.lead()), HostRunAhead.GRAPHS).failed()
        == null;
  }

  PairedSamples samples() {
    return series.samples();
  }

  @Override
  public LaunchedSize launched() {
    return this;
  }

  @Override
  public boolean holds() {
    return true; // A reference that was slowed down counts with its time alone.
  }

  /**
   * A reference that was slowed down, by whatever cause, counts with its time without the
   * candidate, so that nobody gains by it: the longer of the times before and after, since a host
   * may have become slow for both sides.
   */
  @Override
  public SettledSize settle() throws InterruptedException {
    PairedSamples samples = series.samples();
    OracleMessage.Size size = rounds.size();
    BaselineInterference quiet = rounds.quiet();
    boolean heldBack = false;
    double beside = samples.referenceMs();
    if (quiet.slower(size, series.lead(), beside)) {
      double alone = Math.max(quiet.ms(size, series.lead()), quiet.afterwards(size, series.lead()));
      heldBack = beside > HELD_BACK * alone;
      if (heldBack) samples.holdReferenceTo(alone);
    }
    Set<String> flags = flags(series, rounds);
    if (heldBack) flags.add("slow_baseline");
    return new SettledSize(
        samples.logSpeedup(),
        rounds.physics().timing(size, samples, null, series.conditions(), rounds.memory()),
        flags);
  }

  static Set<String> flags(Series series, SizeRounds rounds) {
    Set<String> flags = new LinkedHashSet<>();
    if (series.samples().gapsCount()) flags.add("clock_gap");
    if (series.conditions().throttled()) flags.add("throttled");
    OracleMessage.PreparedSize size = rounds.physics().size();
    if (rounds.memory().large(size.leastBytes(), size.resultBytes())) flags.add("large_workspace");
    return flags;
  }
}
