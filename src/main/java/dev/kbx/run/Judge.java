package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.WorkerFailure;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Takes one candidate through its stages: static, then {@link Correctness} and {@link Performance}.
 *
 * <p>Used by one thread at a time, on one slot.
 */
final class Judge {
  /**
   * A trusted process that fails is started again this often before the verdict is {@code
   * infrastructure}.
   */
  private static final int RETRIES = 2;

  /** Endings after which a device may not be what it was. */
  private static final Set<Status> FAULTS =
      EnumSet.of(
          Status.TIMEOUT,
          Status.CRASHED,
          Status.RUNTIME_ERROR,
          Status.OUT_OF_MEMORY,
          Status.INFRASTRUCTURE);

  private final Workers.Slot slot;
  private final Plan plan;
  private final Verdict.Device device;
  private final Map<String, String> versions;

  Judge(Workers.Slot slot, Plan plan, Verdict.Device device, Map<String, String> versions) {
    this.slot = slot;
    this.plan = plan;
    this.device = device;
    this.versions = versions;
  }

  /**
   * The verdict on a candidate in {@code run}.
   *
   * @throws DeviceLost when it could not be judged because this slot's device is gone
   */
  Verdict judge(String run, Candidate candidate) throws InterruptedException {
    Draft statics = new Draft();
    Optional<Outcome> decided = Statics.decide(candidate, plan, statics);
    Draft draft = statics;
    for (int attempt = 0; decided.isEmpty(); attempt++) {
      draft = new Draft(statics);
      try {
        decided = Optional.of(run(candidate, draft));
      } catch (WorkerFailure e) {
        slot.reset();
        if (lost()) throw new DeviceLost(device(), e);
        if (attempt == RETRIES) {
          decided = Optional.of(Outcome.of(Status.INFRASTRUCTURE, Stage.CALL, e.getMessage()));
        }
      } catch (RuntimeException e) {
        // A fault of kbx, which one candidate has met: the others are judged all the same.
        slot.reset();
        decided =
            Optional.of(
                Outcome.of(
                    Status.INFRASTRUCTURE, Stage.CALL, "kbx failed on this candidate: " + e));
      }
    }
    return draft.verdict(run, candidate, plan, device(), versions, decided.get());
  }

  /** The device that judged, where its oracle has said which it is. */
  private Verdict.Device device() {
    return slot.described().orElse(device);
  }

  private boolean lost() throws InterruptedException {
    Gpu gpu = slot.gpu();
    if (gpu == null) return false;
    try (var _ = gpu.lease().shared()) {
      slot.probe();
    }
    return slot.lost();
  }

  /** After a fault the device is looked at before anybody else uses it. */
  private Outcome probed(Outcome outcome) throws InterruptedException {
    if (FAULTS.contains(outcome.status())) slot.probe();
    return outcome;
  }

  private Outcome run(Candidate candidate, Draft draft) throws InterruptedException {
    Gpu gpu = slot.gpu();
    Correctness correctness = new Correctness(slot, plan, candidate, draft);
    if (gpu == null) return correctness.judge(Map.of());
    Map<String, String> files = new Precompiler(slot, plan, draft).compile(candidate);
    Outcome outcome;
    try (var _ = gpu.lease().shared()) {
      outcome = probed(correctness.judge(files));
    }
    if (outcome.status() != Status.CORRECT || !plan.reaches(Stage.PERF)) return outcome;
    if (!correctness.sized()) {
      draft.flags(List.of("no_sizes"));
      return outcome;
    }
    try (var _ = gpu.lease().alone()) {
      Outcome timed = probed(new Performance(gpu, plan, candidate, draft).judge(files));
      if (timed.status() == Status.CORRECT) compare(gpu, candidate, draft);
      return timed;
    }
  }

  /** After the candidate's process: it could make a baseline slow that others are measured by. */
  private void compare(Gpu gpu, Candidate candidate, Draft draft) throws InterruptedException {
    Timing.Result timing = draft.timing();
    if (timing == null) return;
    draft.comparison(
        gpu.spending()
            .on(
                "compiled baselines",
                () -> Comparison.of(timing, candidate, plan, gpu.compiledBaselines())));
  }
}
