package dev.kbx.run;

import static java.util.Objects.requireNonNull;

import dev.kbx.stats.LogMean;
import dev.kbx.stats.Median;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.Runner;
import java.security.SecureRandom;
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

  /** Calls in a round, where the arenas hold that many input sets. */
  static final int SETS = 8;

  /** Calls of a round that are checked besides the last one. */
  private static final int SPOT_CHECKS = 1;

  /** A batch whose mean is this many times its median has calls that do others' work. */
  private static final double UNEVEN = 1.25;

  /** Milliseconds a call by which a mean may differ from the median, whatever the ratio. */
  private static final double UNEVEN_MS = 0.005;

  private final Oracle oracle;
  private final Runner runner;
  private final Plan plan;
  private final Draft draft;
  private final Gpu gpu;
  private final Map<String, Double> peaks;
  private final Spending spending;
  private final QuietBaseline quiet;
  private final WatchedCall watchedCall;
  private final SecureRandom random = new SecureRandom();
  private final Set<String> flags = new LinkedHashSet<>();

  Timing(
      Session session,
      Plan plan,
      Draft draft,
      Gpu gpu,
      QuietBaseline quiet,
      WatchedCall watchedCall)
      throws InterruptedException {
    this.oracle = session.oracle();
    this.runner = session.runner();
    this.plan = plan;
    this.draft = draft;
    this.gpu = gpu;
    this.peaks = gpu.peaks();
    this.spending = gpu.spending();
    this.quiet = quiet;
    this.watchedCall = watchedCall;
  }

  /** All sizes of a candidate and what they come to. */
  record Result(Speedup speedup, List<SizeTiming> sizes, List<String> flags) {}

  /** Times every size; the outcome is {@code correct}, or why a size could not be timed. */
  Outcome judge(List<Message.Size> sizes) throws InterruptedException, Oracle.Refused {
    List<SizeTiming> timings = new ArrayList<>();
    List<LogMean> speedups = new ArrayList<>();
    for (Message.Size size : sizes) {
      SizeRun run = new SizeRun(size);
      Optional<Outcome> decided = run.measure();
      if (decided.isPresent()) return decided.get();
      timings.add(run.timing());
      speedups.add(run.logSpeedup());
    }
    Ratio all = Ratio.ofSizes(speedups, Rounds.CONFIDENCE);
    draft.timing(
        new Result(
            new Speedup(all.value(), all.low(), all.high(), "eager"), timings, List.copyOf(flags)));
    return Outcome.correct(Stage.PERF);
  }

  /** Measures one size. */
  private final class SizeRun {
    private final Message.Size size;
    private final Rounds rounds = new Rounds();
    private final Conditions conditions = new Conditions();
    private final int watchedRound = WARM_UP_ROUNDS + watchedCall.round(Rounds.MIN);
    private @Nullable Physics physics;

    SizeRun(Message.Size size) {
      this.size = size;
    }

    Optional<Outcome> measure() throws InterruptedException, Oracle.Refused {
      long start = System.nanoTime();
      for (int number = 0; !rounds.enough(seconds(start)); number++) {
        Optional<Outcome> decided = round(number);
        if (decided.isPresent()) return decided;
      }
      rounds.settle();
      if (rounds.gapsCount()) flags.add("clock_gap");
      if (conditions.throttled()) flags.add("throttled");
      quiet.compare(size, rounds.referenceMs());
      return impossible()
          .map(evidence -> Outcome.cheating(Stage.PERF, size.shape() + ": " + evidence));
    }

    /**
     * Evidence of a time that cannot be, by the peaks known and by those of now: the former may be
     * weeks old and measured on a busy device. A candidate that keeps it busy now makes the latter
     * stricter.
     */
    private Optional<String> impossible() throws InterruptedException, Oracle.Refused {
      Physics known = requireNonNull(physics);
      if (known.broken(rounds).isEmpty()) return Optional.empty();
      try {
        return Physics.of(known.size(), gpu.measurePeaks().figures()).broken(rounds);
      } catch (Oracle.Refused e) {
        return known.broken(rounds); // Whoever leaves no memory to measure in gains nothing by it.
      }
    }

    LogMean logSpeedup() {
      return rounds.logSpeedup();
    }

    SizeTiming timing() {
      return requireNonNull(physics).timing(size.shape(), rounds, conditions);
    }

    private Optional<Outcome> round(int number) throws InterruptedException, Oracle.Refused {
      Message.PreparedSize sets = spending.on("prepare", () -> prepare(number));
      physics = Physics.of(sets, peaks);
      boolean referenceFirst = number % 2 == 0;
      Batch reference = referenceFirst ? reference() : null;
      // Only now does the candidate's process see the values: it must not work while others are
      // timed.
      JsonNode calls = spending.on("lend", this::lend);
      Batch candidate;
      long start = System.nanoTime();
      try {
        candidate = candidate(calls, sets.flushBytes());
      } catch (TimeoutException e) {
        return Optional.of(Outcome.timeout(Stage.PERF, size.shape(), plan.limits().size()));
      } catch (Runner.Lost e) {
        return Optional.of(Outcome.lost(e, Stage.PERF));
      } finally {
        spending.add("candidate", start);
      }
      if (candidate.failed() != null) return Optional.of(candidate.failed());
      // Before anything else happens: who says too early that it is done gains no time.
      Optional<Outcome> wrong = spending.on("check", () -> check(candidate.values()));
      if (reference == null) reference = reference();
      if (wrong.isPresent() || number < WARM_UP_ROUNDS) return wrong;
      if (!conditions.spoilt(reference.state())) {
        rounds.add(compared(candidate, reference, referenceFirst));
      }
      return number == watchedRound ? watchedCall.judge(calls, size.shape()) : Optional.empty();
    }

    private Message.PreparedSize prepare(int number) throws InterruptedException, Oracle.Refused {
      return oracle.ask(
          Message.PreparedSize.class,
          id -> new Message.PrepareSize(id, size.index(), SETS, number),
          Session.ORACLE);
    }

    private JsonNode lend() throws InterruptedException, Oracle.Refused {
      return oracle.ask(Message.LentSize.class, Message.LendSize::new, Session.ORACLE).calls();
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
              Session.ORACLE);
      return checked.status().equals(Status.CORRECT.label())
          ? Optional.empty()
          : Optional.of(Outcome.wrong(checked, Stage.PERF, "timed call of " + size.shape()));
    }

    /**
     * One round by both clocks.
     *
     * <p>The wall clock sees launching, flushing and copying besides the device time; the
     * reference's own gap says how much of that is normal here. What a candidate's gap has far
     * beyond it is time that its events did not show.
     */
    private static Round compared(Batch candidate, Batch reference, boolean referenceFirst) {
      double claimed = median(candidate.deviceMs());
      double normal = Math.max(0, reference.gapMs());
      double excess = candidate.gapMs() - normal;
      boolean unexplained = excess > 2 * normal + Math.max(1.0, claimed);
      return new Round(
          claimed,
          unexplained ? excess : 0,
          uneven(candidate.deviceMs(), reference.deviceMs()),
          median(reference.deviceMs()),
          referenceFirst,
          Round.step(reference.deviceMs()));
    }

    private static double uneven(List<Double> candidateMs, List<Double> referenceMs) {
      double excess = mean(candidateMs) - median(candidateMs);
      double normal = Math.max(0, mean(referenceMs) - median(referenceMs));
      double allowed = 2 * normal + (UNEVEN - 1) * median(candidateMs) + UNEVEN_MS;
      return excess > allowed ? excess : 0;
    }
  }

  /**
   * One batch of timed calls.
   *
   * @param gapMs wall-clock milliseconds a call that the device time does not explain
   * @param state of the device right after the reference's batch
   * @param failed why there are no times
   */
  private record Batch(
      List<Double> deviceMs,
      List<JsonNode> values,
      double gapMs,
      Message.@Nullable DeviceState state,
      @Nullable Outcome failed) {
    static Batch failed(Outcome outcome) {
      return new Batch(List.of(), List.of(), 0, null, outcome);
    }
  }

  private Batch reference() throws InterruptedException, Oracle.Refused {
    long start = System.nanoTime();
    Message.BaselineMeasured measured =
        spending.on(
            "reference",
            () ->
                oracle.ask(Message.BaselineMeasured.class, Message.Baseline::new, Session.ORACLE));
    // A candidate's batch has no such reading: counted as normal, it would be time to hide in.
    double reading = measured.stateSeconds() == null ? 0 : measured.stateSeconds() * 1e9;
    double gapMs = gap(start + (long) reading, measured.deviceMs());
    return new Batch(measured.deviceMs(), List.of(), gapMs, measured.state(), null);
  }

  private Batch candidate(JsonNode calls, long flushBytes)
      throws InterruptedException, TimeoutException, Runner.Lost {
    long start = System.nanoTime();
    Message answer =
        runner.ask(
            Message.Measured.class,
            id -> new Message.Measure(id, calls, flushBytes),
            plan.limits().size());
    if (answer instanceof Message.Raised raised) {
      Outcome outcome = Outcome.raised(raised, false);
      return Batch.failed(outcome.at(Stage.PERF));
    }
    Message.Measured measured = (Message.Measured) answer;
    if (measured.values().size() != calls.size()
        || measured.deviceMs().size() != calls.size()
        || measured.deviceMs().stream().anyMatch(ms -> !(ms > 0 && ms < Double.MAX_VALUE))) {
      return Batch.failed(
          Outcome.cheating(Stage.PERF, "timing: the account of a batch does not add up"));
    }
    double gapMs = gap(start, measured.deviceMs());
    return new Batch(measured.deviceMs(), measured.values(), gapMs, null, null);
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
    return Median.of(values.stream().mapToDouble(Double::doubleValue).toArray());
  }

  private static double mean(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
  }
}
