package dev.kbx.timing;

import dev.kbx.device.Gpu;
import dev.kbx.outcome.Attribution;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Plan;
import dev.kbx.stats.LogMean;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.OracleMessage;
import dev.kbx.worker.Runner;
import dev.kbx.worker.WorkerFailure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The performance stage on a GPU: times the candidate in its runner against the reference in the
 * oracle, size by size, until the interval of their ratio is tight or a budget ends.
 *
 * <p>The runner's times are claims. They are checked by two things that it cannot reach: the
 * comparison of timed results, of which it does not know which are checked, and this process's wall
 * clock around each batch.
 */
public final class Timing {
  private final List<SizeRounds> sizes = new ArrayList<>();
  private final List<MeasuredSize> measured = new ArrayList<>();
  private final Set<String> flags = new LinkedHashSet<>();
  private final Plan plan;
  private final References references;
  private final Path task;
  private final Watch watch;
  private @Nullable Outcome dropped;
  private @Nullable LaunchedSize recording;
  private @Nullable Outcome tooSlow;

  /**
   * @param task path of the task file
   * @param expert runner of an expert's kernel, which is loaded; null: there is none
   */
  public Timing(
      Oracle oracle,
      Runner runner,
      Plan plan,
      Gpu gpu,
      References references,
      Path task,
      BaselineInterference quiet,
      Watch watch,
      List<OracleMessage.Size> sizes,
      @Nullable Runner expert) {
    this.plan = plan;
    this.references = references;
    this.task = task;
    this.watch = watch;
    Batches batches = new Batches(oracle, runner, plan, gpu.spending());
    for (OracleMessage.Size size : sizes) {
      ExpertRounds beside =
          expert == null
              ? null
              : new ExpertRounds(
                  new Batches(oracle, expert, plan, gpu.spending(), true),
                  sizes.size(),
                  size.shape());
      this.sizes.add(new SizeRounds(size, sizes.size(), batches, gpu, quiet, watch, beside));
    }
  }

  /**
   * All sizes of a candidate with the speedup and flags.
   *
   * @param geometric the mean without weights, if {@code sizes} have some; else null
   * @param expert the candidate beside an expert's kernel; null if there is none
   */
  public record Result(
      Speedup speedup,
      @Nullable Ratio geometric,
      List<SizeTiming> sizes,
      List<String> flags,
      Verdict.@Nullable Baseline expert) {}

  /**
   * Times every size; returns an outcome if the candidate fails, cheats or cannot be timed, or is
   * {@linkplain #tooSlow too slow} to be timed.
   */
  public Optional<Outcome> judge() throws InterruptedException, Oracle.Refused {
    for (SizeRounds size : sizes) {
      switch (LaunchedSize.measure(size, isRecorded(size.size().index()))) {
        case Step.Ended<LaunchedSize>(Outcome outcome) -> {
          if (outcome.status() == Status.CORRECT) tooSlow = outcome;
          return Optional.of(outcome);
        }
        case Step.To<LaunchedSize>(LaunchedSize launched) -> measured.add(launched);
      }
    }
    return judgeRecorded();
  }

  private boolean isRecorded(int size) {
    return plan.baseline() == Baseline.EAGER && references.recordable(task, size);
  }

  /**
   * Times launch-bound sizes as CUDA graphs. Not against compiled references, which are not
   * recorded.
   *
   * <p>Comes last: a process that failed while recording cannot be used any more.
   */
  private Optional<Outcome> judgeRecorded() throws InterruptedException, Oracle.Refused {
    for (int i = 0; i < measured.size(); i++) {
      LaunchedSize launched = measured.get(i).launched();
      if (!launched.launchBound() || !isRecorded(launched.index())) continue;
      switch (replayed(launched)) {
        case Step.To<ReplayedSize>(ReplayedSize replayed) -> measured.set(i, replayed);
        case Step.Ended<ReplayedSize>(Outcome outcome) -> {
          if (isFinal(outcome)) return Optional.of(outcome);
          if (outcome.status() != Status.INFRASTRUCTURE) return launchedOnly(outcome);
          references.unrecordable(task, launched.index());
          switch (launched.further()) {
            case Step.Ended<LaunchedSize>(Outcome decided) -> {
              if (decided.status() == Status.CORRECT) tooSlow = decided;
              return Optional.of(decided);
            }
            case Step.To<LaunchedSize>(LaunchedSize further) -> measured.set(i, further);
          }
        }
      }
    }
    return Optional.empty();
  }

  private Step<ReplayedSize> replayed(LaunchedSize launched)
      throws InterruptedException, Oracle.Refused {
    recording = launched;
    Step<ReplayedSize> step;
    try {
      step = launched.replay();
    } catch (Oracle.Refused e) {
      // Find out who took the memory.
      if (e.answer().reason() == Message.Failed.Reason.MEMORY) throw e;
      step = Step.ended(Outcome.refused(e.answer()));
    } catch (WorkerFailure e) {
      // Whatever ended the oracle, it is not retried.
      references.unrecordable(task, launched.index());
      throw e;
    }
    recording = null;
    return step;
  }

  /** Whether recording showed something that calls from Python would not undo. */
  private static boolean isFinal(Outcome recorded) {
    return recorded.status() == Status.CHEATING || recorded.status() == Status.NOT_A_KERNEL;
  }

  /** Otherwise the candidate would choose for each size how it is timed. */
  private Optional<Outcome> launchedOnly(Outcome why) {
    dropped = why;
    flags.add(why.mismatches() == null ? "not_recorded" : "replayed_wrong");
    measured.replaceAll(MeasuredSize::launched);
    return Optional.empty();
  }

  /**
   * Whether {@link #judge} ended because the reference's graphs had no memory, and they have none
   * now that the candidate's process is gone. The task's graphs are then not tried again.
   */
  public boolean hasNoRoomForGraphs() throws InterruptedException {
    if (recording == null) return false;
    try {
      if (recording.records()) return false;
    } catch (Oracle.Refused e) {
      // The graphs alone need more memory than there is.
    }
    for (SizeRounds size : sizes) references.unrecordable(task, size.size().index());
    return true;
  }

  /** Whether {@link #judge} ended since timing a correct candidate would take too long. */
  public boolean tooSlow() {
    return tooSlow != null;
  }

  /** The sizes measured before that. The candidate's process must be gone. */
  public List<SizeTiming> measuredSizes() throws InterruptedException {
    List<SizeTiming> before = new ArrayList<>();
    for (MeasuredSize size : measured) before.add(size.launched().settle().timing());
    return before;
  }

  /**
   * Why the candidate's process cannot be used any more, although that does not affect the verdict.
   */
  public Optional<Outcome> dropped() {
    return Optional.ofNullable(dropped);
  }

  /**
   * The measurement, if {@link #judge} returned no outcome. The candidate's process must be gone:
   * only then it shows whether it slowed down the reference.
   */
  public Result settle() throws InterruptedException {
    for (MeasuredSize size : measured) {
      if (holds(size)) continue;
      flags.add("replayed_slow");
      measured.replaceAll(MeasuredSize::launched);
      break;
    }
    List<SettledSize> settled = new ArrayList<>();
    for (MeasuredSize size : measured) settled.add(size.settle());
    List<SizeTiming> timings = settled.stream().map(SettledSize::timing).toList();
    List<Double> weights = SizeTiming.weights(timings);
    List<LogMean> speedups = settled.stream().map(SettledSize::logSpeedup).toList();
    Ratio all = RawRounds.speedup(speedups, weights);
    for (SettledSize size : settled) flags.addAll(size.flags());
    if (watch.incomplete()) flags.add(Attribution.NONE);
    return new Result(
        new Speedup(all.value(), all.low(), all.high(), plan.against(Baseline.EAGER, null)),
        weights == null ? null : RawRounds.speedup(speedups, null),
        timings,
        List.copyOf(flags),
        expert(weights));
  }

  /** The candidate against the expert: the expert's time by its own. */
  private Verdict.@Nullable Baseline expert(@Nullable List<Double> weights) {
    List<Double> ms = new ArrayList<>();
    List<String> raw = new ArrayList<>();
    List<LogMean> shares = new ArrayList<>();
    for (int i = 0; i < sizes.size(); i++) {
      ExpertRounds expert = sizes.get(i).expert();
      if (expert == null) return null;
      String failure = expert.failure();
      if (failure != null) {
        return new Verdict.Baseline(
            Verdict.Baseline.EXPERT, null, null, null, null, null, failure, null, null);
      }
      PairedSamples samples = expert.settled(measured.get(i) instanceof ReplayedSize);
      ms.add(samples.referenceMs());
      raw.add(samples.raw());
      shares.add(samples.logSpeedup());
    }
    Ratio all = RawRounds.speedup(shares, weights);
    Ratio mean = weights == null ? null : RawRounds.speedup(shares, null);
    return Comparison.measured(Verdict.Baseline.EXPERT, all, mean, ms, null, raw);
  }

  private static boolean holds(MeasuredSize size) throws InterruptedException {
    try {
      return size.holds();
    } catch (Oracle.Refused e) {
      return false;
    }
  }
}
