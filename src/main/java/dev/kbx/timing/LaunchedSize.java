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
 * A size measured by calls that are launched from Python. Where launching takes most of the time,
 * and both sides can be recorded, it is measured once more as CUDA graphs.
 */
final class LaunchedSize implements MeasuredSize {
  private final SizeRounds rounds;
  private final Series series;

  private LaunchedSize(SizeRounds rounds, Series series) {
    this.rounds = rounds;
    this.series = series;
  }

  /**
   * Measures a size.
   *
   * @param provisional whether {@link #replay} will be tried if this size is launch-bound:
   *     launching is then shown here, and nowhere else
   */
  static Step<LaunchedSize> measure(SizeRounds rounds, boolean provisional)
      throws InterruptedException, Oracle.Refused {
    boolean waits = provisional && rounds.quiet().launchBound(rounds.size());
    HostRunAhead lead = waits ? HostRunAhead.NONE : HostRunAhead.LAUNCHES;
    return new LaunchedSize(rounds, Series.launched(lead, rounds.sizes())).measure(provisional);
  }

  /** Measures the size to the end, where few rounds would have done for one that is replayed. */
  Step<LaunchedSize> further() throws InterruptedException, Oracle.Refused {
    return series.lead() == HostRunAhead.LAUNCHES ? measure(false) : measure(rounds, false);
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

  /** Whether {@link #replay} has anything to add. */
  boolean launchBound() {
    return series.lead() == HostRunAhead.NONE || series.samples().launchBound();
  }

  int index() {
    return rounds.size().index();
  }

  /**
   * Measures the size as CUDA graphs. Of outcomes, {@code cheating} is one; {@code infrastructure}
   * says that the reference cannot be recorded; any other that the candidate cannot, whose process
   * must be asked nothing more.
   */
  Step<ReplayedSize> replay() throws InterruptedException, Oracle.Refused {
    return switch (rounds.record(series.lead())) {
      case Step.Ended<JsonNode>(Outcome outcome) -> Step.ended(outcome);
      case Step.To<JsonNode>(JsonNode calls) -> ReplayedSize.measure(this, rounds, calls);
    };
  }

  /** Whether the reference can be recorded now that the candidate's process is gone. */
  boolean records() throws InterruptedException, Oracle.Refused {
    return rounds.graphsAlone(rounds.sets(series.lead())).failed() == null;
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
    return true; // A reference that was held back counts with what it takes alone.
  }

  /**
   * A reference that was held back, by whatever it was, counts with what it takes without the
   * candidate, so that nobody gains by it. That is the longer of before and now: a host may have
   * become slow for both sides.
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
    Set<String> flags = flags(series);
    if (heldBack) flags.add("slow_baseline");
    return new SettledSize(
        samples.logSpeedup(),
        rounds.physics().timing(size.shape(), samples, null, series.conditions()),
        flags);
  }

  static Set<String> flags(Series series) {
    Set<String> flags = new LinkedHashSet<>();
    if (series.samples().gapsCount()) flags.add("clock_gap");
    if (series.conditions().throttled()) flags.add("throttled");
    return flags;
  }
}
