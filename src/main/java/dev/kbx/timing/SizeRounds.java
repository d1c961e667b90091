package dev.kbx.timing;

import static dev.kbx.timing.Defaults.FEW_CALLS;
import static dev.kbx.timing.Defaults.MIN_ROUNDS;
import static dev.kbx.timing.Defaults.STALL_MS;
import static dev.kbx.timing.Defaults.STALL_PART;
import static dev.kbx.timing.Defaults.UNEVEN;
import static dev.kbx.timing.Defaults.UNEVEN_MS;
import static dev.kbx.timing.Defaults.WARM_UP_CALLS;
import static dev.kbx.timing.Defaults.WARM_UP_ROUNDS;
import static java.util.Objects.requireNonNull;

import dev.kbx.device.Gpu;
import dev.kbx.outcome.Outcome;
import dev.kbx.stats.Median;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.OracleMessage.PrepareSize.Phase;
import dev.kbx.worker.PeakRates;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The rounds of one benchmark size of one candidate, alternating (A B, B A, …) over fresh inputs,
 * series after series while the candidate's process lives.
 */
final class SizeRounds {
  private final OracleMessage.Size size;
  private final int sizes;
  private final Batches batches;
  private final Gpu gpu;
  private final BaselineInterference quiet;
  private final Watch watch;
  private final SecureRandom random = new SecureRandom();

  /** One of the first that count: which of them is watched must not be known beforehand. */
  private final int watchedRound;

  /** Number of the next launched round; those of another series of them go on from there. */
  private int launched;

  /** Milliseconds a call of the candidate, as it last said and the wall clock allows; 0 before. */
  private double candidateMs;

  private @Nullable Physics physics;

  /**
   * @param sizes how many the candidate is timed on
   */
  SizeRounds(
      OracleMessage.Size size,
      int sizes,
      Batches batches,
      Gpu gpu,
      BaselineInterference quiet,
      Watch watch) {
    this.size = size;
    this.sizes = sizes;
    this.batches = batches;
    this.gpu = gpu;
    this.quiet = quiet;
    this.watch = watch;
    this.watchedRound = WARM_UP_ROUNDS + random.nextInt(MIN_ROUNDS);
  }

  OracleMessage.Size size() {
    return size;
  }

  /** How many sizes the candidate is timed on. */
  int sizes() {
    return sizes;
  }

  BaselineInterference quiet() {
    return quiet;
  }

  /** What the size asks of the device, as its last round said. */
  Physics physics() {
    return requireNonNull(physics);
  }

  /**
   * Goes on with a series until it has enough; the outcome, if that ends the candidate.
   *
   * @param provisional whether few rounds will do
   */
  Optional<Outcome> run(Series series, BooleanSupplier provisional)
      throws InterruptedException, Oracle.Refused {
    int first = series.recorded() == null ? launched : 0;
    int fullyChecked = first + WARM_UP_ROUNDS + random.nextInt(MIN_ROUNDS);
    long start = batches.nanoTime();
    PairedSamples samples = series.samples();
    int number = first;
    while (!samples.enough((batches.nanoTime() - start) / 1e9, provisional.getAsBoolean())) {
      boolean counts = number - first >= WARM_UP_ROUNDS;
      Optional<Outcome> decided = round(series, number, counts, number == fullyChecked);
      if (decided.isPresent()) return decided;
      number++;
      if (series.recorded() == null) launched = number;
    }
    samples.settle();
    return Optional.empty();
  }

  /**
   * Records both sides as CUDA graphs, on other values than they will be timed with.
   *
   * @param lead of the series before
   * @return the calls that were recorded, or why there are no graphs, as for {@link
   *     LaunchedSize#replay}
   */
  Step<JsonNode> record(HostRunAhead lead) throws InterruptedException, Oracle.Refused {
    var _ = batches.prepare(size, sets(lead), Phase.RECORDING, 0).answer();
    Batch reference = batches.reference(HostRunAhead.GRAPHS).answer();
    if (reference.failed() != null) return Step.ended(reference.failed());
    JsonNode calls = batches.lend().answer();
    Optional<Outcome> refused = batches.record(calls, watch, size.shape());
    return refused.isPresent() ? Step.ended(refused.get()) : Step.to(calls);
  }

  /** The reference's graphs once the candidate's process is gone. */
  Batch graphsAlone(int sets) throws InterruptedException, Oracle.Refused {
    var _ = batches.prepare(size, sets, Phase.GRAPHS_ALONE, 0).answer();
    return batches.reference(HostRunAhead.GRAPHS).answer();
  }

  /** Calls in a round of launched calls: as many as the slower side has time for. */
  int sets(HostRunAhead lead) {
    return Batches.calls(Math.max(quiet.ms(size, lead), candidateMs));
  }

  /**
   * As many as were recorded. Else fewer for a round that warms up, and for rounds that may be all
   * that it takes.
   */
  private int sets(Series series, boolean counts) {
    if (series.recorded() != null) return series.recorded().size();
    int most = sets(series.lead());
    if (series.samples().measured() >= MIN_ROUNDS) return most;
    return Math.min(most, counts ? FEW_CALLS : WARM_UP_CALLS);
  }

  /**
   * One round. What the oracle does in a row it is asked for in a row, without waiting in between.
   *
   * @param counts whether the reference is timed as well
   * @param fully whether all calls are checked, and not one of them
   */
  private Optional<Outcome> round(Series series, int number, boolean counts, boolean fully)
      throws InterruptedException, Oracle.Refused {
    // Not once the candidate has its values: who has them longer can compute with them.
    PeakRates peaks = gpu.peaks();
    HostRunAhead lead = series.lead();
    boolean referenceFirst = number % 2 == 0;
    Batches.Asked<OracleMessage.PreparedSize> preparing =
        batches.prepare(size, sets(series, counts), series.phase(), number);
    Batches.Asked<Batch> first = counts && referenceFirst ? batches.reference(lead) : null;
    // Only now does the candidate's process see the values: it must not work while others are
    // timed.
    Batches.Asked<JsonNode> lending = batches.lend();
    OracleMessage.PreparedSize prepared = preparing.answer();
    Physics asked = Physics.of(prepared, peaks);
    physics = asked;
    Batch reference = first == null ? null : first.answer();
    JsonNode calls = lending.answer();
    Batch candidate = candidate(series, calls, prepared.flushBytes());
    if (candidate.failed() != null) return Optional.of(candidate.failed());
    candidateMs = Median.of(candidate.deviceMs()) + Math.min(0, candidate.gapMs());
    // Before anything else happens: who says too early that it is done gains no time.
    Batches.Asked<OracleMessage.Checked> checking = check(candidate.values(), fully);
    Batches.Asked<Batch> last = counts && !referenceFirst ? batches.reference(lead) : null;
    Optional<Outcome> wrong = wrong(checking.answer());
    if (last != null) reference = last.answer();
    if (wrong.isPresent()) return wrong;
    if (reference == null) return Optional.empty();
    if (reference.failed() != null) return Optional.of(reference.failed());
    if (!series.conditions().spoilt(reference.state())) {
      series.samples().add(compared(candidate, reference, referenceFirst, asked, lead));
    }
    return series.recorded() == null && number == watchedRound ? watched(calls) : Optional.empty();
  }

  private Optional<Outcome> watched(JsonNode calls) throws InterruptedException {
    return batches.watched(calls.get(random.nextInt(calls.size())), watch, size.shape());
  }

  private Batch candidate(Series series, JsonNode calls, long flushBytes)
      throws InterruptedException {
    JsonNode recorded = series.recorded();
    if (recorded == null) return batches.candidate(calls, flushBytes, series.lead());
    if (recorded.equals(calls)) return batches.replayed(calls.size(), flushBytes);
    return Batch.failed(
        Outcome.of(
            Status.INFRASTRUCTURE,
            Stage.PERF,
            "cannot replay the CUDA graph: arguments changed between rounds"));
  }

  private Batches.Asked<OracleMessage.Checked> check(List<JsonNode> values, boolean fully) {
    List<Integer> slots = checkedSlots(values.size(), fully);
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
  private List<Integer> checkedSlots(int calls, boolean fully) {
    if (fully) return IntStream.range(0, calls).boxed().toList();
    return List.of(random.nextInt(calls));
  }

  /**
   * Evidence of a time that cannot be, by the peaks known and by those of now: the former may be
   * weeks old and measured on a busy device. A candidate that keeps it busy now makes the latter
   * stricter.
   */
  Optional<Outcome> impossible(PairedSamples samples) throws InterruptedException {
    Physics known = physics();
    Optional<String> evidence = known.broken(samples);
    if (evidence.isEmpty()) return Optional.empty();
    try {
      evidence = Physics.of(known.size(), gpu.measurePeaks().rates()).broken(samples);
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
