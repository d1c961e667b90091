package dev.kbx.run;

import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.Runner;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The performance stage on a GPU: the candidate in its runner against the reference in the oracle,
 * in alternating rounds (A B, B A, …) over fresh inputs, until the interval of their ratio is tight
 * or a budget ends.
 *
 * <p>The runner's times are claims, held against two things it cannot reach: the results of timed
 * calls that it does not know are looked at, and the wall clock of this process around the whole
 * batch.
 */
final class Timing {
  /** The first round compiles, fills caches and wakes the clocks; it is checked and not counted. */
  private static final int WARM_UP_ROUNDS = 1;

  /** Below this many rounds a t interval says little. */
  private static final int MIN_ROUNDS = 5;

  private static final int MAX_ROUNDS = 24;

  /** Calls in a round, where the arenas hold that many input sets. */
  private static final int SETS = 8;

  /** Half width of the 95 % interval of the ratio at which measuring stops, relative. */
  private static final double TIGHT = 0.01;

  /** Seconds of rounds for one size after which measuring stops, once there are enough rounds. */
  private static final double BUDGET_SECONDS = 1.5;

  /** Calls of a round that are checked besides the last one. */
  private static final int SPOT_CHECKS = 1;

  private static final Duration ORACLE = Duration.ofMinutes(2);

  private final Oracle oracle;
  private final Runner runner;
  private final Plan plan;
  private final Draft draft;
  private final Map<String, Double> peaks;
  private final WatchedCall watchedCall;
  private final SecureRandom random = new SecureRandom();
  private final Set<String> flags = new LinkedHashSet<>();

  Timing(
      Oracle oracle,
      Runner runner,
      Plan plan,
      Draft draft,
      Map<String, Double> peaks,
      WatchedCall watchedCall) {
    this.oracle = oracle;
    this.runner = runner;
    this.plan = plan;
    this.draft = draft;
    this.peaks = peaks;
    this.watchedCall = watchedCall;
  }

  /** All sizes of a candidate and what they come to. */
  record Result(Speedup speedup, List<SizeTiming> sizes, List<String> flags) {}

  /** One round on one size: median milliseconds a call. */
  private record Round(double candidateMs, double referenceMs) {}

  /** Times every size; the outcome is {@code correct}, or why a size could not be timed. */
  Outcome judge(List<Message.Size> sizes) throws InterruptedException, Oracle.Refused {
    long start = System.nanoTime();
    try {
      List<SizeTiming> timings = new ArrayList<>();
      List<double[]> ratios = new ArrayList<>();
      for (Message.Size size : sizes) {
        SizeRun run = new SizeRun(size);
        Optional<Outcome> decided = run.measure();
        if (decided.isPresent()) return decided.get();
        timings.add(run.timing());
        ratios.add(run.logRatios());
      }
      Ratio all = Ratio.ofSizes(ratios);
      draft.timing(
          new Result(
              new Speedup(all.value(), all.low(), all.high(), "eager"),
              timings,
              List.copyOf(flags)));
      return Outcome.correct(Stage.PERF);
    } finally {
      draft.spent(Stage.PERF, (System.nanoTime() - start) / 1e9);
    }
  }

  /** The rounds of one size. */
  private final class SizeRun {
    private final Message.Size size;
    private final List<Round> rounds = new ArrayList<>();
    private @Nullable Long bytes;
    private @Nullable Long flops;
    private final int watchedRound = WARM_UP_ROUNDS + watchedCall.round(MIN_ROUNDS);

    SizeRun(Message.Size size) {
      this.size = size;
    }

    Optional<Outcome> measure() throws InterruptedException, Oracle.Refused {
      long start = System.nanoTime();
      for (int round = 0; round < WARM_UP_ROUNDS + MAX_ROUNDS; round++) {
        Optional<Outcome> decided = round(round);
        if (decided.isPresent()) return decided;
        if (rounds.size() >= MIN_ROUNDS && (tight() || seconds(start) > BUDGET_SECONDS)) break;
      }
      return Optional.empty();
    }

    private Optional<Outcome> round(int number) throws InterruptedException, Oracle.Refused {
      Message.PreparedSize sets =
          oracle.ask(
              Message.PreparedSize.class,
              id -> new Message.PrepareSize(id, size.index(), SETS, number),
              ORACLE);
      bytes = sets.bytes();
      flops = sets.flops();
      boolean referenceFirst = number % 2 == 0;
      Batch reference = referenceFirst ? reference() : null;
      Batch candidate;
      try {
        candidate = candidate(sets);
      } catch (TimeoutException e) {
        return Optional.of(Outcome.timeout(Stage.PERF, size.shape(), plan.limits().size()));
      } catch (Runner.Lost e) {
        return Optional.of(Outcome.lost(e, Stage.PERF));
      }
      if (candidate.failed() != null) return Optional.of(candidate.failed());
      if (reference == null) reference = reference();
      Optional<Outcome> wrong = check(candidate.values());
      if (wrong.isPresent() || number < WARM_UP_ROUNDS) return wrong;
      rounds.add(believed(candidate, reference));
      return number == watchedRound
          ? watchedCall.judge(sets.calls(), size.shape())
          : Optional.empty();
    }

    private Optional<Outcome> check(List<JsonNode> values)
        throws InterruptedException, Oracle.Refused {
      Set<Integer> slots = new LinkedHashSet<>();
      for (int i = 0; i < SPOT_CHECKS; i++) slots.add(random.nextInt(values.size()));
      slots.add(values.size() - 1);
      Message.Checked checked =
          oracle.ask(
              Message.Checked.class,
              id ->
                  new Message.CheckSize(
                      id, List.copyOf(slots), slots.stream().map(values::get).toList()),
              ORACLE);
      return checked.status().equals(Status.CORRECT.label())
          ? Optional.empty()
          : Optional.of(Outcome.wrong(checked, Stage.PERF, "timed call of " + size.shape()));
    }

    double[] logRatios() {
      return rounds.stream()
          .mapToDouble(r -> Math.log(r.referenceMs() / r.candidateMs()))
          .toArray();
    }

    private Ratio ratio() {
      return Ratio.ofRounds(logRatios());
    }

    private boolean tight() {
      Ratio ratio = ratio();
      return ratio.high() - ratio.low() <= 2 * TIGHT * ratio.value();
    }

    SizeTiming timing() {
      double candidateMs = median(rounds.stream().map(Round::candidateMs).toList());
      double referenceMs = median(rounds.stream().map(Round::referenceMs).toList());
      Ratio ratio = ratio();
      Double gbs = bytes == null ? null : bytes / candidateMs / 1e6;
      Double tflops = flops == null || flops == 0 ? null : flops / candidateMs / 1e9;
      Double peak = peaks.get("copy_gbs");
      Double iou = gbs == null || peak == null ? null : gbs / peak;
      return new SizeTiming(
          size.shape(),
          candidateMs,
          referenceMs,
          ratio.value(),
          ratio.low(),
          ratio.high(),
          gbs,
          tflops,
          iou,
          null,
          rounds.size());
    }

    /**
     * The candidate's time as far as both clocks bear it out.
     *
     * <p>The wall clock sees launching, flushing and copying besides the device time; the
     * reference's own gap says how much of that is normal here. What a candidate's gap has far
     * beyond it is time that its events did not show, and is added to what they did.
     */
    private Round believed(Batch candidate, Batch reference) {
      double claimed = median(candidate.deviceMs());
      double excess = candidate.gapMs() - reference.gapMs();
      boolean unexplained = excess > 2 * reference.gapMs() + Math.max(1.0, claimed);
      if (unexplained) flags.add("clock_gap");
      return new Round(unexplained ? claimed + excess : claimed, median(reference.deviceMs()));
    }
  }

  /**
   * One batch of timed calls.
   *
   * @param gapMs wall-clock milliseconds a call that the device time does not explain
   * @param failed why there are no times
   */
  private record Batch(
      List<Double> deviceMs, List<JsonNode> values, double gapMs, @Nullable Outcome failed) {
    static Batch failed(Outcome outcome) {
      return new Batch(List.of(), List.of(), 0, outcome);
    }
  }

  private Batch reference() throws InterruptedException, Oracle.Refused {
    long start = System.nanoTime();
    Message.BaselineMeasured measured =
        oracle.ask(Message.BaselineMeasured.class, Message.Baseline::new, ORACLE);
    return new Batch(measured.deviceMs(), List.of(), gap(start, measured.deviceMs()), null);
  }

  private Batch candidate(Message.PreparedSize sets)
      throws InterruptedException, TimeoutException, Runner.Lost {
    long start = System.nanoTime();
    Message answer =
        runner.ask(
            Message.Measured.class,
            id -> new Message.Measure(id, sets.calls(), sets.flushBytes()),
            plan.limits().size());
    if (answer instanceof Message.Raised raised) {
      Outcome outcome = Outcome.raised(raised, false);
      return Batch.failed(outcome.at(Stage.PERF));
    }
    Message.Measured measured = (Message.Measured) answer;
    int calls = sets.calls().size();
    if (measured.values().size() != calls
        || measured.deviceMs().size() != calls
        || measured.deviceMs().stream().anyMatch(ms -> !(ms > 0 && ms < Double.MAX_VALUE))) {
      return Batch.failed(
          Outcome.cheating(Stage.PERF, "timing: the account of a batch does not add up"));
    }
    return new Batch(measured.deviceMs(), measured.values(), gap(start, measured.deviceMs()), null);
  }

  private static double gap(long start, List<Double> deviceMs) {
    double wall = (System.nanoTime() - start) / 1e6;
    double device = deviceMs.stream().mapToDouble(Double::doubleValue).sum();
    return (wall - device) / deviceMs.size();
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }

  private static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
