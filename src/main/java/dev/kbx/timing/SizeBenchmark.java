package dev.kbx.timing;

import static java.util.Objects.requireNonNull;

import dev.kbx.device.Gpu;
import dev.kbx.outcome.Outcome;
import dev.kbx.stats.LogMean;
import dev.kbx.stats.Median;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import java.security.SecureRandom;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One benchmark size of one candidate, in alternating rounds (A B, B A, …) over fresh inputs.
 *
 * <p>Where launching takes most of the time it is measured twice: launched from Python, and then,
 * if both sides can be recorded, as CUDA graphs. Those are recorded on other values than they are
 * timed with, and no code of the candidate's runs while they are replayed.
 */
final class SizeBenchmark {
  /** The first round compiles, fills caches and wakes the clocks; it is checked and not counted. */
  private static final int WARM_UP_ROUNDS = 1;

  /** Number of the round that graphs are recorded in; launched rounds never get there. */
  private static final int RECORDING = 499;

  /** Number of a round in which no candidate's process lives. */
  private static final int AFTERWARDS = 1003;

  /** A batch whose mean is this many times its median has calls that do others' work. */
  private static final double UNEVEN = 1.25;

  /**
   * Milliseconds a batch that only the wall clock may see, whatever is normal: a stall of a busy
   * host hits few calls as hard as many. Never more than {@link #STALL_PART} of the reference's
   * time, or a millisecond a call: a candidate could hide in the rest.
   */
  private static final double STALL_MS = 8;

  private static final double STALL_PART = 0.05;

  /** So many times what it takes alone, a reference that has become slow was held back. */
  private static final double HELD = 1.05;

  /** Milliseconds a call by which a mean may differ from the median, whatever the ratio. */
  private static final double UNEVEN_MS = 0.005;

  private final OracleMessage.Size size;
  private final Batches batches;
  private final Gpu gpu;
  private final BaselineInterference quiet;
  private final Watch watch;
  private final SecureRandom random = new SecureRandom();
  private final int sizes;
  private PairedSamples launched;
  private Conditions launchedConditions = new Conditions();
  private final Conditions replayedConditions = new Conditions();

  /** One of the first that count: which of them is watched must not be known beforehand. */
  private final int watchedRound;

  private HostRunAhead lead = HostRunAhead.LAUNCHES;
  private int number;
  private int fullyChecked;
  private boolean heldBack;

  /** Milliseconds a call of the candidate, as it last said and the wall clock allows; 0 before. */
  private double candidateMs;

  private @Nullable PairedSamples replayed;
  private @Nullable JsonNode recorded;
  private @Nullable Physics physics;

  /**
   * @param sizes how many the candidate is timed on
   */
  SizeBenchmark(
      OracleMessage.Size size,
      int sizes,
      Batches batches,
      Gpu gpu,
      BaselineInterference quiet,
      Watch watch) {
    this.size = size;
    this.sizes = sizes;
    this.launched = new PairedSamples(sizes);
    this.batches = batches;
    this.gpu = gpu;
    this.quiet = quiet;
    this.watch = watch;
    this.watchedRound = WARM_UP_ROUNDS + random.nextInt(PairedSamples.MIN);
  }

  int index() {
    return size.index();
  }

  /**
   * Launched from Python; called again it goes on. The outcome, if there is no time.
   *
   * @param provisional whether {@link #measureRecorded} will be tried if this size is launch-bound:
   *     launching is then shown here, and nowhere else
   */
  Optional<Outcome> measure(boolean provisional) throws InterruptedException, Oracle.Refused {
    recorded = null;
    launchedWith(
        provisional && quiet.launchBound(size) ? HostRunAhead.NONE : HostRunAhead.LAUNCHES);
    Optional<Outcome> decided = rounds(launched, number, provisional);
    if (decided.isPresent()) return decided;
    quiet.compare(size, lead, launched.referenceMs());
    return impossible(launched);
  }

  private void launchedWith(HostRunAhead wanted) {
    if (lead == wanted) return;
    lead = wanted;
    launched = new PairedSamples(sizes);
    launchedConditions = new Conditions();
  }

  /** Whether {@link #measureRecorded} has anything to add. */
  boolean launchBound() {
    return lead == HostRunAhead.NONE || launched.launchBound();
  }

  /**
   * As CUDA graphs, after {@link #measure}. Empty if that gave times. Of outcomes, {@code cheating}
   * is one; {@code infrastructure} says that the reference cannot be recorded; any other that the
   * candidate cannot, whose process must be asked nothing more.
   */
  Optional<Outcome> measureRecorded() throws InterruptedException, Oracle.Refused {
    var _ = batches.prepare(size, sets(), RECORDING).answer();
    Batch reference = batches.reference(HostRunAhead.GRAPHS).answer();
    if (reference.failed() != null) return Optional.of(reference.failed());
    JsonNode calls = batches.lend().answer();
    Optional<Outcome> refused = batches.record(calls, watch, size.shape());
    if (refused.isPresent()) return refused;
    recorded = calls;
    PairedSamples rounds = new PairedSamples(sizes);
    number = RECORDING + 1;
    Optional<Outcome> decided = rounds(rounds, number, false);
    if (decided.isPresent()) return decided;
    replayed = rounds;
    return impossible(rounds);
  }

  /**
   * Whether the reference's graphs take as long now that the candidate's process is gone; true
   * where there are none.
   */
  boolean holds() throws InterruptedException, Oracle.Refused {
    if (replayed == null) return true;
    Batch alone = graphsAfterwards();
    return alone.failed() == null
        && !BaselineInterference.slower(replayed.referenceMs(), Median.of(alone.deviceMs()));
  }

  /** Whether the reference can be recorded now that the candidate's process is gone. */
  boolean records() throws InterruptedException, Oracle.Refused {
    return graphsAfterwards().failed() == null;
  }

  private Batch graphsAfterwards() throws InterruptedException, Oracle.Refused {
    var _ = batches.prepare(size, sets(), AFTERWARDS).answer();
    return batches.reference(HostRunAhead.GRAPHS).answer();
  }

  /**
   * When all is measured and the candidate's process is gone: a reference that was held back, by
   * whatever it was, counts with what it takes without one, so that nobody gains by it. That is the
   * longer of before and now: a host may have become slow for both sides.
   */
  void settle() throws InterruptedException {
    double beside = launched.referenceMs();
    if (replayed != null || !quiet.slower(size, lead, beside)) return;
    double alone = Math.max(quiet.ms(size, lead), quiet.afterwards(size, lead));
    heldBack = beside > HELD * alone;
    if (heldBack) launched.holdReferenceTo(alone);
  }

  /** Goes back to the times of calls launched from Python. */
  void forgetGraphs() {
    replayed = null;
  }

  LogMean logSpeedup() {
    return counted().logSpeedup();
  }

  /** Observations for the verdict's {@code flags}. */
  Set<String> flags() {
    Set<String> flags = new LinkedHashSet<>();
    if (counted().gapsCount()) flags.add("clock_gap");
    if (conditions(counted()).throttled()) flags.add("throttled");
    if (heldBack) flags.add("slow_baseline");
    return flags;
  }

  SizeTiming timing() {
    PairedSamples python = replayed == null ? null : launched;
    return requireNonNull(physics).timing(size.shape(), counted(), python, conditions(counted()));
  }

  private Conditions conditions(PairedSamples rounds) {
    return rounds.equals(launched) ? launchedConditions : replayedConditions;
  }

  private PairedSamples counted() {
    return replayed == null ? launched : replayed;
  }

  /** As many as were recorded; before that as many as the slower side has time for. */
  private int sets() {
    if (recorded != null) return recorded.size();
    return Batches.calls(Math.max(quiet.ms(size, lead), candidateMs));
  }

  /** Fewer calls for a round that warms up, and for rounds that may be all that it takes. */
  private int sets(PairedSamples rounds, boolean counts) {
    if (recorded != null || rounds.measured() >= PairedSamples.MIN) return sets();
    return Math.min(sets(), counts ? Batches.FEW : Batches.FEWEST);
  }

  private Optional<Outcome> rounds(PairedSamples rounds, int first, boolean provisional)
      throws InterruptedException, Oracle.Refused {
    fullyChecked = first + WARM_UP_ROUNDS + random.nextInt(PairedSamples.MIN);
    long start = System.nanoTime();
    while (!rounds.enough((System.nanoTime() - start) / 1e9, provisional && launchBound())) {
      Optional<Outcome> decided = round(rounds, number - first >= WARM_UP_ROUNDS);
      if (decided.isPresent()) return decided;
      number++;
    }
    rounds.settle();
    return Optional.empty();
  }

  /**
   * One round. What the oracle does in a row it is asked for in a row, without waiting in between.
   *
   * @param counts whether the reference is timed as well
   */
  private Optional<Outcome> round(PairedSamples rounds, boolean counts)
      throws InterruptedException, Oracle.Refused {
    // Not once the candidate has its values: who has them longer can compute with them.
    Map<String, Double> peaks = gpu.peaks();
    HostRunAhead now = recorded == null ? lead : HostRunAhead.GRAPHS;
    boolean referenceFirst = number % 2 == 0;
    Batches.Asked<OracleMessage.PreparedSize> preparing =
        batches.prepare(size, sets(rounds, counts), number);
    Batches.Asked<Batch> first = counts && referenceFirst ? batches.reference(now) : null;
    // Only now does the candidate's process see the values: it must not work while others are
    // timed.
    Batches.Asked<JsonNode> lending = batches.lend();
    OracleMessage.PreparedSize prepared = preparing.answer();
    physics = Physics.of(prepared, peaks);
    Batch reference = first == null ? null : first.answer();
    JsonNode calls = lending.answer();
    Batch candidate = candidate(calls, prepared.flushBytes());
    if (candidate.failed() != null) return Optional.of(candidate.failed());
    candidateMs = Median.of(candidate.deviceMs()) + Math.min(0, candidate.gapMs());
    // Before anything else happens: who says too early that it is done gains no time.
    Batches.Asked<OracleMessage.Checked> checking = check(candidate.values());
    Batches.Asked<Batch> last = counts && !referenceFirst ? batches.reference(now) : null;
    Optional<Outcome> wrong = wrong(checking.answer());
    if (last != null) reference = last.answer();
    if (wrong.isPresent()) return wrong;
    if (reference == null) return Optional.empty();
    if (reference.failed() != null) return Optional.of(reference.failed());
    if (!conditions(rounds).spoilt(reference.state())) {
      rounds.add(compared(candidate, reference, referenceFirst, physics, now));
    }
    return number == watchedRound ? watched(calls) : Optional.empty();
  }

  private Optional<Outcome> watched(JsonNode calls) throws InterruptedException {
    return batches.watched(calls.get(random.nextInt(calls.size())), watch, size.shape());
  }

  private Batch candidate(JsonNode calls, long flushBytes) throws InterruptedException {
    if (recorded == null) return batches.candidate(calls, flushBytes, lead);
    if (recorded.equals(calls)) return batches.replayed(calls.size(), flushBytes);
    return Batch.failed(
        Outcome.of(
            Status.INFRASTRUCTURE,
            Stage.PERF,
            "cannot replay the CUDA graph: arguments changed between rounds"));
  }

  private Batches.Asked<OracleMessage.Checked> check(List<JsonNode> values) {
    List<Integer> slots = checkedSlots(values.size());
    return batches.check(slots, slots.stream().map(values::get).toList());
  }

  private Optional<Outcome> wrong(OracleMessage.Checked checked) {
    return checked.correct()
        ? Optional.empty()
        : Optional.of(Outcome.wrong(checked, Stage.PERF, "timed call of " + size.shape()));
  }

  /**
   * Which calls of a round are checked: all of them in one of the first that count, so that nobody
   * leaves out any call in each round, or says too early that the last one is done; in every other
   * round one.
   */
  private List<Integer> checkedSlots(int calls) {
    if (number == fullyChecked) return IntStream.range(0, calls).boxed().toList();
    return List.of(random.nextInt(calls));
  }

  /**
   * Evidence of a time that cannot be, by the peaks known and by those of now: the former may be
   * weeks old and measured on a busy device. A candidate that keeps it busy now makes the latter
   * stricter.
   */
  private Optional<Outcome> impossible(PairedSamples rounds) throws InterruptedException {
    Physics known = requireNonNull(physics);
    Optional<String> evidence = known.broken(rounds);
    if (evidence.isEmpty()) return Optional.empty();
    try {
      evidence = Physics.of(known.size(), gpu.measurePeaks().figures()).broken(rounds);
    } catch (Oracle.Refused e) {
      // Whoever leaves no memory to measure in gains nothing by it.
    }
    return evidence.map(e -> Outcome.impossible(size.shape() + ": " + e));
  }

  /**
   * One round by both clocks.
   *
   * <p>The wall clock sees launching and flushing besides the device time; the reference's own gap
   * says how much of that is normal here. Where only the candidate's results are copied, by its own
   * process, that counts no longer than it says that making them took, or it could work in that
   * time. What its gap has far beyond that is time that its events did not show. What the device
   * does besides calls takes as long for both sides, and excuses nothing.
   */
  private static Round compared(
      Batch candidate,
      Batch reference,
      boolean referenceFirst,
      Physics physics,
      HostRunAhead lead) {
    double claimed = Median.of(candidate.deviceMs());
    double normal = Math.max(0, reference.gapMs());
    double host = Math.max(0, normal - physics.besideMs(lead));
    double excess = candidate.gapMs() - normal - Math.min(physics.copyMs(), claimed);
    double most = Math.max(1, STALL_PART * Median.of(reference.deviceMs()));
    double stall = Math.min(STALL_MS / candidate.deviceMs().size(), most);
    boolean unexplained = excess > 2 * host + Math.max(stall, claimed / 2);
    return new Round(
        claimed,
        unexplained ? excess : 0,
        uneven(candidate.deviceMs(), reference.deviceMs()),
        Median.of(reference.deviceMs()),
        referenceFirst,
        Round.step(reference.deviceMs()),
        candidate.hostBound() || reference.hostBound());
  }

  private static double uneven(List<Double> candidateMs, List<Double> referenceMs) {
    double excess = mean(candidateMs) - Median.of(candidateMs);
    double normal = Math.max(0, mean(referenceMs) - Median.of(referenceMs));
    double allowed = 2 * normal + (UNEVEN - 1) * Median.of(candidateMs) + UNEVEN_MS;
    return excess > allowed ? excess : 0;
  }

  private static double mean(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
  }
}
