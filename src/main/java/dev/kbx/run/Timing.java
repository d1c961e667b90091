package dev.kbx.run;

import dev.kbx.stats.LogMean;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.SizeTiming;
import dev.kbx.verdict.Verdict.Speedup;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The performance stage on a GPU: the candidate in its runner against the reference in the oracle,
 * size by size, until the interval of their ratio is tight or a budget ends.
 *
 * <p>The runner's times are claims, held against two things it cannot reach: the results of timed
 * calls that it does not know are looked at, and the wall clock of this process around the whole
 * batch.
 */
final class Timing {
  private final List<SizeRun> runs = new ArrayList<>();
  private final Plan plan;

  Timing(
      Session session,
      Plan plan,
      Gpu gpu,
      QuietBaseline quiet,
      WatchedCall watchedCall,
      List<Message.Size> sizes) {
    this.plan = plan;
    Batches batches = new Batches(session, plan, gpu.spending());
    for (Message.Size size : sizes) {
      runs.add(new SizeRun(size, batches, gpu, quiet, watchedCall));
    }
  }

  /** All sizes of a candidate and what they come to. */
  record Result(Speedup speedup, List<SizeTiming> sizes, List<String> flags) {}

  /** Times every size; the outcome, if that shows more than times. */
  Optional<Outcome> judge() throws InterruptedException, Oracle.Refused {
    for (SizeRun run : runs) {
      Optional<Outcome> decided = run.measure();
      if (decided.isPresent()) return decided;
    }
    return plan.baseline() == Baseline.EAGER ? judgeRecorded() : Optional.empty();
  }

  /**
   * As CUDA graphs. Compiled references are not recorded, so what is held against them is not
   * either.
   *
   * <p>After everything else: a process that failed at being recorded can be asked nothing more.
   */
  private Optional<Outcome> judgeRecorded() throws InterruptedException, Oracle.Refused {
    for (SizeRun run : runs) {
      if (!run.launchBound()) continue;
      Optional<Outcome> decided = run.measureRecorded();
      if (decided.isPresent()) return decided.filter(o -> o.status() == Status.CHEATING);
    }
    return Optional.empty();
  }

  /** What was measured, once {@link #judge} has found nothing. */
  Result result() {
    List<LogMean> speedups = runs.stream().map(SizeRun::logSpeedup).toList();
    Ratio all = Ratio.ofSizes(speedups, Rounds.CONFIDENCE);
    Set<String> flags = new LinkedHashSet<>();
    for (SizeRun run : runs) flags.addAll(run.flags());
    return new Result(
        new Speedup(all.value(), all.low(), all.high(), plan.against("eager")),
        runs.stream().map(SizeRun::timing).toList(),
        List.copyOf(flags));
  }
}
