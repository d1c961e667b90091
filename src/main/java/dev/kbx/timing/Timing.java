package dev.kbx.timing;

import static dev.kbx.timing.Defaults.CONFIDENCE;

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
  private final List<SizeRounds> sizes = new ArrayList<>();
  private final List<MeasuredSize> measured = new ArrayList<>();
  private final Set<String> flags = new LinkedHashSet<>();
  private final Plan plan;
  private final References references;
  private final Path task;
  private final Watch watch;
  private @Nullable Outcome dropped;
  private @Nullable LaunchedSize recording;

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
      this.sizes.add(new SizeRounds(size, sizes.size(), batches, gpu, quiet, watch));
    }
  }

  /** All sizes of a candidate and what they come to. */
  public record Result(Speedup speedup, List<SizeTiming> sizes, List<String> flags) {}

  /** Times every size; the outcome, if that shows more than times. */
  public Optional<Outcome> judge() throws InterruptedException, Oracle.Refused {
    for (SizeRounds size : sizes) {
      switch (LaunchedSize.measure(size, isRecorded(size.size().index()))) {
        case Step.Ended<LaunchedSize>(Outcome outcome) -> {
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
   * As CUDA graphs. Compiled references are not recorded, so what is held against them is not
   * either.
   *
   * <p>After everything else: a process that failed at being recorded can be asked nothing more.
   */
  private Optional<Outcome> judgeRecorded() throws InterruptedException, Oracle.Refused {
    for (int i = 0; i < measured.size(); i++) {
      LaunchedSize launched = measured.get(i).launched();
      if (!launched.launchBound() || !isRecorded(launched.index())) continue;
      switch (replayed(launched)) {
        case Step.To<ReplayedSize>(ReplayedSize replayed) -> measured.set(i, replayed);
        case Step.Ended<ReplayedSize>(Outcome outcome) -> {
          if (outcome.status() == Status.CHEATING) return Optional.of(outcome);
          if (outcome.status() != Status.INFRASTRUCTURE) return launchedOnly(outcome);
          references.unrecordable(task, launched.index());
          switch (launched.further()) {
            case Step.Ended<LaunchedSize>(Outcome decided) -> {
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
      // Who took the memory is to be found out.
      if (e.answer().reason() == Message.Failed.Reason.MEMORY) throw e;
      step = Step.ended(Outcome.refused(e.answer()));
    } catch (WorkerFailure e) {
      // Whatever the oracle died of, it is not tried again.
      references.unrecordable(task, launched.index());
      throw e;
    }
    recording = null;
    return step;
  }

  /** A mean over sizes of which the candidate has chosen how each is timed would be none. */
  private Optional<Outcome> launchedOnly(Outcome why) {
    dropped = why;
    flags.add(why.mismatches() == null ? "not_recorded" : "replayed_wrong");
    measured.replaceAll(MeasuredSize::launched);
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
    for (SizeRounds size : sizes) references.unrecordable(task, size.size().index());
    return true;
  }

  /** Why the candidate's process can be asked no more, though the verdict does not rest on it. */
  public Optional<Outcome> dropped() {
    return Optional.ofNullable(dropped);
  }

  /**
   * What was measured, where {@link #judge} has found nothing else. The candidate's process must be
   * gone: only now shows whether it held the reference back.
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
    List<LogMean> speedups = settled.stream().map(SettledSize::logSpeedup).toList();
    Ratio all = Ratio.ofSizes(speedups, CONFIDENCE);
    for (SettledSize size : settled) flags.addAll(size.flags());
    if (watch.incomplete()) flags.add(Attribution.NONE);
    return new Result(
        new Speedup(all.value(), all.low(), all.high(), plan.against(Baseline.EAGER, null)),
        settled.stream().map(SettledSize::timing).toList(),
        List.copyOf(flags));
  }

  private static boolean holds(MeasuredSize size) throws InterruptedException {
    try {
      return size.holds();
    } catch (Oracle.Refused e) {
      return false;
    }
  }
}
