package dev.kbx.timing;

import static dev.kbx.timing.Defaults.FEW_CALLS;
import static dev.kbx.timing.Defaults.MIN_ROUNDS;
import static dev.kbx.timing.Defaults.MUCH_SLOWER;
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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Takes the rounds of one benchmark size of one candidate, alternating (A B, B A, …) over fresh
 * inputs, in one or more series, while the candidate's process lives.
 */
final class SizeRounds {
  private final OracleMessage.Size size;
  private final int sizes;
  private final Batches batches;
  private final Gpu gpu;
  private final BaselineInterference quiet;
  private final Watch watch;
  private final @Nullable ExpertRounds expert;
  private final SecureRandom random = new SecureRandom();

  /** One of the first counted rounds; the candidate must not be able to predict which. */
  private final int watchedRound;

  private final TimedOperations operations = new TimedOperations();

  /** Number of the next launched round; a further series of launched rounds continues from it. */
  private int launched;

  /** The candidate's last reported milliseconds a call, as the wall clock allows; 0 before. */
  private double candidateMs;

  /** The shortest of the candidate's calls so far, in milliseconds; 0 before. */
  private double fastestMs;

  private @Nullable Physics physics;
  private final MemoryPeaks memory = new MemoryPeaks();

  /**
   * @param sizes number of sizes of the task
   * @param expert whose kernel is timed in the same rounds; null: nobody's
   */
  SizeRounds(
      OracleMessage.Size size,
      int sizes,
      Batches batches,
      Gpu gpu,
      BaselineInterference quiet,
      Watch watch,
      @Nullable ExpertRounds expert) {
    this.expert = expert;
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

  /** Number of sizes of the task. */
  int sizes() {
    return sizes;
  }

  BaselineInterference quiet() {
    return quiet;
  }

  /** The size's physical limits, from its last round. */
  Physics physics() {
    return requireNonNull(physics);
  }

  /**
   * Memory of the counted launched calls so far: calls that warm up may tune, with buffers that no
   * later call has, and those of graphs hold theirs before they are timed.
   */
  MemoryPeaks memory() {
    return memory;
  }

  /**
   * Continues a series until it has enough rounds; returns an outcome if that ends the candidate.
   *
   * @param provisional whether few rounds suffice
   */
  Optional<Outcome> run(Series series, BooleanSupplier provisional)
      throws InterruptedException, Oracle.Refused {
    int first = series.recorded() == null ? launched : 0;
    int fullyChecked = first + WARM_UP_ROUNDS + random.nextInt(MIN_ROUNDS);
    long start = batches.nanoTime();
    int number = first;
    double referenceMs = quiet.ms(size, series.lead());
    while (!series
        .samples()
        .enough(
            (batches.nanoTime() - start) / 1e9,
            provisional.getAsBoolean() || muchSlower(referenceMs))) {
      if (exceedsBudget(series.samples(), referenceMs)) return Optional.of(tooSlow(referenceMs));
      boolean counts = number - first >= WARM_UP_ROUNDS;
      Optional<Outcome> decided =
          round(series, number, counts, number == fullyChecked, !provisional.getAsBoolean());
      if (decided.isPresent()) {
        boolean slow = decided.get().status() == Status.TIMEOUT && series.recorded() == null;
        return slow ? Optional.of(timedOut(decided.get(), referenceMs)) : decided;
      }
      number++;
      if (series.recorded() == null) launched = number;
    }
    series.samples().settle();
    return Optional.empty();
  }

  /** Whether each call of the candidate so far took this many times as long as the reference. */
  private boolean muchSlower(double referenceMs) {
    return fastestMs >= MUCH_SLOWER * referenceMs;
  }

  /** Whether the fewest rounds would take more of the device than the candidate may use. */
  private boolean exceedsBudget(PairedSamples samples, double referenceMs) {
    int rounds = Math.max(1, MIN_ROUNDS - samples.measured());
    return muchSlower(referenceMs) && rounds * fastestMs > batches.budget().leftMs();
  }

  /** The candidate is correct; how slow it is, is known to be at least this. */
  private Outcome tooSlow(double referenceMs) {
    return Outcome.of(
        Status.CORRECT,
        Stage.PERF,
        "at least %d times slower than the reference: a call of %s takes %.3f ms, the reference's %.3f ms; not timed further within the %d s that a candidate has the device"
            .formatted(
                (long) (fastestMs / referenceMs),
                size.shape(),
                fastestMs,
                referenceMs,
                batches.budget().seconds()));
  }

  private Outcome timedOut(Outcome timeout, double referenceMs) {
    if (muchSlower(referenceMs)) return tooSlow(referenceMs);
    return Outcome.of(
        Status.CORRECT,
        Stage.PERF,
        "not timed: at %s %s, tuning included, where a call of the reference takes %.3f ms"
            .formatted(size.shape(), timeout.message(), referenceMs));
  }

  /**
   * Records both sides as CUDA graphs, on other values than they will be timed with.
   *
   * @param lead of the preceding series
   * @return the recorded calls, or why there are no graphs, as for {@link LaunchedSize#replay}
   */
  Step<JsonNode> record(HostRunAhead lead) throws InterruptedException, Oracle.Refused {
    var _ = batches.prepare(size, recordedCalls(lead), Phase.RECORDING, 0).answer();
    Batch reference = batches.graphs(HostRunAhead.GRAPHS).answer();
    if (reference.failed() != null) return Step.ended(reference.failed());
    JsonNode calls = batches.lend().answer();
    Optional<Outcome> refused = batches.record(calls, watch, size.shape());
    if (refused.isEmpty() && expert != null) expert.record();
    return refused.isPresent() ? Step.ended(refused.get()) : Step.to(calls);
  }

  /** Times the reference's graphs after the candidate's process is gone. */
  Batch graphsAlone(int sets, HostRunAhead lead) throws InterruptedException, Oracle.Refused {
    var _ = batches.prepare(size, sets, Phase.GRAPHS_ALONE, 0).answer();
    return batches.graphs(lead).answer();
  }

  /**
   * Number of calls that are recorded: recording one takes longer than timing it in several rounds.
   *
   * @param lead of the preceding series
   */
  int recordedCalls(HostRunAhead lead) {
    return Math.min(sets(lead), FEW_CALLS);
  }

  /** Number of launched calls in a round, by the duration of the slower side. */
  private int sets(HostRunAhead lead) {
    return Batches.calls(Math.max(quiet.ms(size, lead), candidateMs));
  }

  /**
   * Number of calls in a round of graphs: as many as were recorded. For launched calls: fewer for
   * warm-up, for rounds that may be the only ones, and before graphs, which are what then counts.
   */
  private int sets(Series series, boolean counts) {
    if (series.recorded() != null) return series.recorded().size();
    int most = sets(series.lead());
    if (series.samples().measured() >= MIN_ROUNDS) return most;
    boolean alone = counts && series.lead() != HostRunAhead.NONE;
    return Math.min(most, alone ? FEW_CALLS : WARM_UP_CALLS);
  }

  /**
   * Takes one round. Consecutive requests to the oracle are sent without waiting.
   *
   * @param counts whether the reference is timed as well
   * @param fully whether all calls are checked, not just one
   * @param adapts whether the series may begin anew with another run-ahead
   */
  private Optional<Outcome> round(
      Series series, int number, boolean counts, boolean fully, boolean adapts)
      throws InterruptedException, Oracle.Refused {
    // Not after the candidate has its values: it could start computing with them.
    PeakRates peaks = gpu.peaks();
    boolean referenceFirst = number % 2 == 0;
    Batches.Asked<OracleMessage.PreparedSize> preparing =
        batches.prepare(size, sets(series, counts), series.phase(), number);
    boolean expertFirst = expert != null && expert.first(number, random);
    Batch beside = expertFirst ? expert(series, preparing.answer(), counts) : null;
    Batches.Asked<Batch> first = counts && referenceFirst ? reference(series) : null;
    // Only now does the candidate's process see the values: it must not work while the other side
    // is timed.
    Batches.Asked<JsonNode> lending = batches.lend();
    OracleMessage.PreparedSize prepared = preparing.answer();
    Physics asked = Physics.of(prepared, peaks);
    physics = asked;
    Batch reference = first == null ? null : first.answer();
    JsonNode calls = lending.answer();
    Batch candidate = candidate(series, calls, counts, prepared.flushBytes());
    if (candidate.failed() != null) return Optional.of(candidate.failed());
    candidateMs = Median.of(candidate.deviceMs()) + Math.min(0, candidate.gapMs());
    double shortest = Collections.min(candidate.deviceMs());
    fastestMs = fastestMs == 0 ? shortest : Math.min(fastestMs, shortest);
    // Before anything else happens: a runner that reports too early gains no time.
    Batches.Asked<OracleMessage.Checked> checking = check(candidate.values(), fully);
    Batches.Asked<Batch> last = counts && !referenceFirst ? reference(series) : null;
    Optional<Outcome> wrong = wrong(checking.answer());
    if (last != null) reference = last.answer();
    if (wrong.isPresent()) return wrong;
    if (expert != null && !expertFirst) beside = expert(series, prepared, counts);
    if (reference == null) return Optional.empty();
    if (reference.failed() != null) return Optional.of(reference.failed());
    if (series.recorded() == null) memory.add(candidate.peakBytes(), reference.peakBytes());
    if (!series.conditions().spoilt(reference.state())) {
      Round compared = compared(candidate, reference, referenceFirst, asked, series.lead());
      if (expert != null && beside != null) expert.add(series, compared, beside, expertFirst);
      series.add(compared, adapts);
    }
    if (series.recorded() != null) return operations.judge(candidate.ran(), size.shape());
    if (number == watchedRound) {
      Optional<Outcome> found = watched(series, calls.get(random.nextInt(calls.size())));
      if (found.isPresent()) return found;
    }
    if (operations.unwatched(candidate.ran()).isEmpty()) return Optional.empty();
    return operations.explain(
        candidate.ran(), lentAgain(), call -> watched(series, call), size.shape());
  }

  private @Nullable Batch expert(Series series, OracleMessage.PreparedSize prepared, boolean counts)
      throws InterruptedException, Oracle.Refused {
    double referenceMs = quiet.ms(size, series.lead());
    return requireNonNull(expert)
        .measure(series, counts, prepared.flushBytes(), referenceMs, random);
  }

  /** The expert in these rounds; null if there is none. */
  @Nullable ExpertRounds expert() {
    return expert;
  }

  private Optional<Outcome> watched(Series series, JsonNode call) throws InterruptedException {
    double referenceMs = quiet.ms(size, series.lead());
    return batches.watched(call, referenceMs, watch, operations, size.shape());
  }

  /** A round's calls in any order, on the values that it has timed: it may have updated them. */
  private List<JsonNode> lentAgain() throws InterruptedException, Oracle.Refused {
    List<JsonNode> calls = new ArrayList<>(batches.lend().answer().values());
    Collections.shuffle(calls, random);
    return calls;
  }

  private Batches.Asked<Batch> reference(Series series) {
    HostRunAhead lead = series.lead();
    return series.recorded() == null ? batches.reference(lead) : batches.graphs(lead);
  }

  private Batch candidate(Series series, JsonNode calls, boolean counts, long flushBytes)
      throws InterruptedException {
    JsonNode recorded = series.recorded();
    HostRunAhead lead = series.lead();
    if (recorded == null) {
      return batches.candidate(calls, counts, flushBytes, lead, quiet.ms(size, lead));
    }
    if (recorded.equals(calls)) return batches.replayed(calls.size(), counts, flushBytes, lead);
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
        : Optional.of(
            Outcome.wrong(checked, Stage.PERF, "timed call of " + size.shape(), List.of()));
  }

  /**
   * Which calls of a round are checked: all in one of the first counted rounds, so that a candidate
   * can neither skip a call in each round nor report the last one too early; in every other round
   * one.
   */
  private List<Integer> checkedSlots(int calls, boolean fully) {
    if (fully) return IntStream.range(0, calls).boxed().toList();
    return List.of(random.nextInt(calls));
  }

  /**
   * Evidence of an impossible time, by both the cached peaks and the current ones: the former may
   * be weeks old and measured on a busy device. A candidate that keeps the device busy now only
   * makes the latter stricter.
   */
  Optional<Outcome> impossible(PairedSamples samples) throws InterruptedException {
    Physics known = physics();
    Optional<String> evidence = known.broken(samples);
    if (evidence.isEmpty()) return Optional.empty();
    try {
      evidence = Physics.of(known.size(), gpu.measurePeaks().rates()).broken(samples);
    } catch (Oracle.Refused e) {
      // A candidate that leaves no memory for the measurement gains nothing.
    }
    return evidence.map(e -> Outcome.impossible(size.shape() + ": " + e));
  }

  /**
   * Compares both clocks of one round.
   *
   * <p>The wall clock includes launching and flushing; the reference's own gap shows how much of
   * that is normal here. Time for copying is allowed if only the candidate's results are copied, by
   * its own process, but no more than its reported call time, or it could compute meanwhile. A
   * larger gap is time that its events did not show. Device work beside the calls takes as long on
   * both sides, and explains nothing.
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
