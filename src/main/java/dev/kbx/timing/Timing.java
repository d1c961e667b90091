package dev.kbx.timing;

import dev.kbx.device.Gpu;
import dev.kbx.outcome.Attribution;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Plan;
import dev.kbx.stats.LogMean;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Status;
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
 * The performance stage on a GPU: the candidate in its runner against the reference in the oracle,
 * size by size, until the interval of their ratio is tight or a budget ends.
 *
 * <p>The runner's times are claims, held against two things it cannot reach: the results of timed
 * calls that it does not know are looked at, and the wall clock of this process around the whole
 * batch.
 */
public final class Timing {
  private final List<SizeBenchmark> runs = new ArrayList<>();
  private final Set<String> flags = new LinkedHashSet<>();
  private final Plan plan;
  private final References references;
  private final Path task;
  private final Watch watch;
  private @Nullable Outcome dropped;
  private @Nullable SizeBenchmark recording;

  /**
   * @param task the task's file
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
      List<OracleMessage.Size> sizes) {
    this.plan = plan;
    this.references = references;
    this.task = task;
    this.watch = watch;
    Batches batches = new Batches(oracle, runner, plan, gpu.spending());
    for (OracleMessage.Size size : sizes) {
      runs.add(new SizeBenchmark(size, sizes.size(), batches, gpu, quiet, watch));
    }
  }

  /** All sizes of a candidate and what they come to. */
  public record Result(Speedup speedup, List<SizeTiming> sizes, List<String> flags) {}

  /** Times every size; the outcome, if that shows more than times. */
  public Optional<Outcome> judge() throws InterruptedException, Oracle.Refused {
    for (SizeBenchmark run : runs) {
      Optional<Outcome> decided = run.measure(isRecorded(run));
      if (decided.isPresent()) return decided;
    }
    return judgeRecorded();
  }

  private boolean isRecorded(SizeBenchmark run) {
    return plan.baseline() == Baseline.EAGER && references.recordable(task, run.index());
  }

  /**
   * As CUDA graphs. Compiled references are not recorded, so what is held against them is not
   * either.
   *
   * <p>After everything else: a process that failed at being recorded can be asked nothing more.
   */
  private Optional<Outcome> judgeRecorded() throws InterruptedException, Oracle.Refused {
    for (SizeBenchmark run : runs) {
      if (!run.launchBound() || !isRecorded(run)) continue;
      Optional<Outcome> found;
      recording = run;
      try {
        found = recorded(run);
      } catch (WorkerFailure e) {
        references.unrecordable(
            task, run.index()); // Whatever the oracle died of, it is not tried again.
        throw e;
      }
      recording = null;
      if (found.isEmpty()) continue;
      Outcome outcome = found.get();
      if (outcome.status() == Status.CHEATING) return found;
      if (outcome.status() != Status.INFRASTRUCTURE) return launchedOnly(outcome);
      references.unrecordable(task, run.index());
      Optional<Outcome> decided = run.measure(false);
      if (decided.isPresent()) return decided;
    }
    return Optional.empty();
  }

  private static Optional<Outcome> recorded(SizeBenchmark run)
      throws InterruptedException, Oracle.Refused {
    try {
      return run.measureRecorded();
    } catch (Oracle.Refused e) {
      // Who took the memory is to be found out.
      if (e.answer().reason() == Message.Failed.Reason.MEMORY) throw e;
      return Optional.of(Outcome.refused(e.answer()));
    }
  }

  /** A mean over sizes of which the candidate has chosen how each is timed would be none. */
  private Optional<Outcome> launchedOnly(Outcome why) {
    dropped = why;
    flags.add(why.mismatches() == null ? "not_recorded" : "replayed_wrong");
    runs.forEach(SizeBenchmark::forgetGraphs);
    return Optional.empty();
  }

  /**
   * Whether {@link #judge} ended because the reference's graphs had no room, and have none either
   * now that the candidate's process is gone. No graphs of the task are tried again.
   */
  public boolean hasNoRoomForGraphs() throws InterruptedException {
    if (recording == null) return false;
    try {
      if (recording.records()) return false;
    } catch (Oracle.Refused e) {
      // The graphs themselves take more than there is.
    }
    for (SizeBenchmark run : runs) references.unrecordable(task, run.index());
    return true;
  }

  /** Once the candidate's process is gone: whether it held the reference back. */
  public void settle() throws InterruptedException {
    for (SizeBenchmark run : runs) {
      if (holds(run)) continue;
      flags.add("replayed_slow");
      runs.forEach(SizeBenchmark::forgetGraphs);
      break;
    }
    for (SizeBenchmark run : runs) run.settle();
  }

  private static boolean holds(SizeBenchmark run) throws InterruptedException {
    try {
      return run.holds();
    } catch (Oracle.Refused e) {
      return false;
    }
  }

  /** Why the candidate's process can be asked no more, though the verdict does not rest on it. */
  public Optional<Outcome> dropped() {
    return Optional.ofNullable(dropped);
  }

  /** What was measured, once {@link #judge} has found nothing, after {@link #settle}. */
  public Result result() {
    List<LogMean> speedups = runs.stream().map(SizeBenchmark::logSpeedup).toList();
    Ratio all = Ratio.ofSizes(speedups, PairedSamples.CONFIDENCE);
    for (SizeBenchmark run : runs) flags.addAll(run.flags());
    if (watch.incomplete()) flags.add(Attribution.NONE);
    return new Result(
        new Speedup(all.value(), all.low(), all.high(), plan.against(Baseline.EAGER, null)),
        runs.stream().map(SizeBenchmark::timing).toList(),
        List.copyOf(flags));
  }
}
