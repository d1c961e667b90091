package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.device.ConcurrencyLimit;
import dev.kbx.device.DeviceLost;
import dev.kbx.device.Gpu;
import dev.kbx.device.SharedExclusiveLock;
import dev.kbx.device.Slot;
import dev.kbx.device.Span;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.MemoryRequirements;
import dev.kbx.plan.Plan;
import dev.kbx.task.Task;
import dev.kbx.timing.Comparison;
import dev.kbx.timing.Timing;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Profile;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.WorkerFailure;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Decides whether a candidate is correct, and how fast: runs the static stage, then {@link
 * Precompiler}, {@link Correctness} and {@link Performance}.
 *
 * <p>Confined to one thread at a time, on one slot.
 */
final class Judge {
  /** Restarts of a failing trusted process before the verdict is {@code infrastructure}. */
  private static final int RETRIES = 2;

  private final JudgingSlot judgingSlot;
  private final Slot slot;
  private final Plan plan;
  private final Verdict.Device device;
  private final Map<String, String> versions;

  Judge(JudgingSlot judgingSlot, Plan plan, Verdict.Device device, Map<String, String> versions) {
    this.judgingSlot = judgingSlot;
    this.slot = judgingSlot.slot();
    this.plan = plan;
    this.device = device;
    this.versions = versions;
  }

  /**
   * Judges a candidate, through all stages of the plan.
   *
   * @throws DeviceLost if this slot's device is lost before there is a judgement
   */
  Judgement judge(Candidate candidate) throws InterruptedException {
    try (var _ = Span.of(candidate.task().path())) {
      return staged(candidate);
    }
  }

  private Judgement staged(Candidate candidate) throws InterruptedException {
    JudgementBuilder statics = begun(candidate);
    Optional<Outcome> refused = StaticStage.decide(candidate, plan, judgingSlot.syntax(), statics);
    if (refused.isEmpty()) {
      Executed executed = executed(candidate, statics);
      return judgement(executed.draft(), executed.outcome());
    }
    if (!isRunNevertheless(refused.get())) return judgement(statics, refused.get());
    Judge untimed = new Judge(judgingSlot, plan.untimed(), device, versions);
    Executed ran = untimed.executed(candidate, statics);
    if (ran.outcome().status() == Status.SYNTAX_ERROR) {
      return judgement(ran.draft(), ran.outcome());
    }
    ran.draft().withoutPolicy(ran.outcome());
    return judgement(ran.draft(), refused.get());
  }

  /** For the published accounting, which does not ask who computes. */
  private boolean isRunNevertheless(Outcome refused) {
    return plan.publishedAccounting() && refused.policy() && plan.reaches(Stage.CALL);
  }

  /** What came of a candidate that was run. */
  private record Executed(JudgementBuilder draft, Outcome outcome) {}

  /** Runs all stages after the static one. */
  private Executed executed(Candidate candidate, JudgementBuilder statics)
      throws InterruptedException {
    Precompiler.Compiled compiled = compiled(candidate, statics);
    Optional<Outcome> decided = compiled.failure();
    Ahead ahead = compiled.ahead();
    Plan limited = limited(candidate);
    JudgementBuilder draft = statics;
    boolean alone = false;
    boolean again = false;
    for (int failures = 0; decided.isEmpty(); ) {
      draft = new JudgementBuilder(statics);
      try {
        decided = run(candidate, limited, draft, ahead, alone);
        alone = true; // Other candidates on the GPU may have caused the fault.
      } catch (WorkerFailure e) {
        if (slot.isLost()) throw new DeviceLost(device(), e);
        if (failures++ == RETRIES) {
          decided = Optional.of(Outcome.of(Status.INFRASTRUCTURE, Stage.CALL, e.getMessage()));
          again = true;
        }
      } catch (RuntimeException e) {
        // A bug in kbx that only this candidate triggers: the other candidates are still judged.
        decided =
            Optional.of(
                Outcome.of(
                    Status.INFRASTRUCTURE, Stage.CALL, "kbx failed on this candidate: " + e));
      }
      if (!again && decided.filter(Judge::isOurs).isPresent()) {
        again = true;
        alone = true;
        decided = Optional.empty();
      }
    }
    return new Executed(draft, blamed(candidate, limited, decided.get()));
  }

  private static boolean isOurs(Outcome outcome) {
    return outcome.status() == Status.INFRASTRUCTURE;
  }

  /**
   * The outcome, with the blame for a failure of kbx's: the candidate's, if kbx has failed on it
   * each time and judges an empty candidate in its place. Otherwise a candidate could leave the
   * rates by provoking such a failure.
   */
  private Outcome blamed(Candidate candidate, Plan limited, Outcome outcome)
      throws InterruptedException {
    if (!isOurs(outcome) || outcome.stage() == Stage.PERF) return outcome;
    return new EmptyCandidate(slot, limited, candidate)
        .failure()
        .map(outcome::unprovoked)
        .orElseGet(outcome::provoked);
  }

  /**
   * Compiles a candidate for the GPU of another machine, and judges nothing.
   *
   * @param arch of that GPU
   * @return empty if the static stage ends its judgement, or nothing could be compiled ahead
   */
  Optional<Binaries> compile(Candidate candidate, String arch) throws InterruptedException {
    JudgementBuilder draft = begun(candidate);
    if (StaticStage.decide(candidate, plan, judgingSlot.syntax(), draft).isPresent())
      return Optional.empty();
    try (ConcurrencyLimit.Pass _ = slot.compiling(candidate.bringsCpp())) {
      return new Precompiler(judgingSlot, arch, plan, draft, versions).binaries(candidate);
    } catch (WorkerFailure e) {
      return Optional.empty(); // The machine that judges tries again.
    }
  }

  /** Keeps what another machine compiled for this slot's GPU. */
  void keep(Binaries compiled, Candidate candidate) throws InterruptedException {
    try {
      new Precompiler(judgingSlot, plan, begun(candidate), versions).keep(compiled, candidate);
    } catch (WorkerFailure e) {
      // It only saves time; a device that is lost is found when the candidate is judged.
    }
  }

  /**
   * The judgement of a candidate under which two devices were lost, which is its doing: no further
   * device is risked.
   */
  Judgement givenUp(Candidate candidate, DeviceLost lost) {
    String why = "given up, as two devices stopped computing under it: " + lost.getMessage();
    return judgement(begun(candidate), Outcome.of(Status.CRASHED, Stage.CALL, why));
  }

  private JudgementBuilder begun(Candidate candidate) {
    Task task = candidate.task();
    return new JudgementBuilder(
        plan.policy(task), task.isModule() ? plan.precision().label() : null);
  }

  private Judgement judgement(JudgementBuilder draft, Outcome outcome) {
    return draft.judgement(plan, device(), versions, outcome);
  }

  private Precompiler.Compiled compiled(Candidate candidate, JudgementBuilder draft)
      throws InterruptedException {
    // Without a GPU, kernels are compiled when they are called. C++ takes longer than a call may.
    if (slot.gpu() == null && !candidate.bringsCpp()) {
      return Precompiler.Compiled.NOTHING;
    }
    Precompiler precompiler = new Precompiler(judgingSlot, plan, draft, versions);
    for (int failures = 0; ; ) {
      try (ConcurrencyLimit.Pass _ = slot.compiling(candidate.bringsCpp())) {
        return precompiler.compile(candidate);
      } catch (WorkerFailure e) {
        if (slot.isLost()) throw new DeviceLost(device(), e);
        if (failures++ == RETRIES) {
          return Precompiler.Compiled.failed(
              Outcome.of(Status.INFRASTRUCTURE, Stage.COMPILE, e.getMessage()));
        }
      }
    }
  }

  /** The plan, with limits for what compilers other than Triton take in calls. */
  private Plan limited(Candidate candidate) {
    return slot.gpu() != null && candidate.bringsKernelPackage() ? plan.withCompilers() : plan;
  }

  /** The device that judged, if its oracle has reported it; else the first slot's. */
  private Verdict.Device device() {
    return slot.described().orElse(device);
  }

  /**
   * Runs all stages after compilation on this slot.
   *
   * @param limited the plan, with limits for what is still to be compiled
   * @param alone whether the candidate has the GPU exclusively in all stages
   * @return empty for a fault that others on the GPU may have caused by taking memory or time; the
   *     candidate must then be judged alone
   */
  private Optional<Outcome> run(
      Candidate candidate, Plan limited, JudgementBuilder draft, Ahead ahead, boolean alone)
      throws InterruptedException {
    SharedGpu place = judgingSlot.gpu();
    if (place == null) {
      return Optional.of(new Correctness(slot, plan, candidate, draft, ahead, true).judge());
    }
    Outcome outcome;
    boolean sound;
    Gpu gpu = place.gpu();
    MemoryRequirements needs = gpu.needs(candidate.task());
    Plan own = limited.with(needs);
    Correctness correctness = new Correctness(slot, own, candidate, draft, ahead, alone);
    try (ConcurrencyLimit.Pass _ = gpu.admit();
        SharedExclusiveLock.Held held =
            alone ? gpu.lease().alone() : gpu.lease().shared(needs.part())) {
      outcome = correctness.judge();
      boolean fault = outcome.isFault() || correctness.faulted();
      boolean othersFault = fault && held.company();
      if (othersFault || (!alone && wantsRoom(needs, outcome))) return Optional.empty();
      sound = !fault || slot.computes();
    }
    // Other candidates may have filled the GPU, which then only seems lost.
    if (!sound && slot.isLost()) return Optional.of(outcome);
    if (outcome.status() != Status.CORRECT || !plan.reaches(Stage.PERF)) {
      return Optional.of(outcome);
    }
    if (!correctness.sized()) {
      draft.flags(List.of("no_sizes"));
      return Optional.of(outcome);
    }
    try (var _ = gpu.lease().alone()) {
      Performance performance = new Performance(place, own, candidate, draft, ahead);
      Outcome timed = performance.judge();
      // After a fault the device is probed before anybody else uses it.
      if (performance.faulted() || timed.isFault()) slot.probe();
      if (timed.status() == Status.CORRECT && !slot.lost()) {
        compare(place, candidate, draft);
        profile(place, candidate, draft, ahead);
      }
      return Optional.of(timed);
    }
  }

  /**
   * Whether the outcome may differ when the candidate is alone: with all the memory, and an oracle
   * that may do without float64.
   */
  private static boolean wantsRoom(MemoryRequirements needs, Outcome outcome) {
    return !needs.usual()
        && (outcome.status() == Status.OUT_OF_MEMORY || outcome.status() == Status.INFRASTRUCTURE);
  }

  /** Profiles last, after the verdict: a failure here is recorded and decides nothing. */
  private void profile(SharedGpu place, Candidate candidate, JudgementBuilder draft, Ahead ahead)
      throws InterruptedException {
    if (!plan.profile() || draft.timing() == null) return;
    Profile found =
        place
            .gpu()
            .spending()
            .on("profile", () -> place.profiler().of(candidate, plan, ahead.files()));
    draft.profile(found);
    if (found.failure() != null) slot.probe();
  }

  /**
   * Runs after the candidate's process has ended: that process could slow down a baseline that
   * other candidates are compared with.
   */
  private void compare(SharedGpu place, Candidate candidate, JudgementBuilder draft)
      throws InterruptedException {
    Timing.Result timing = draft.timing();
    if (timing == null) return;
    draft.comparison(
        place
            .gpu()
            .spending()
            .on(
                "compiled baselines",
                () -> Comparison.of(timing, candidate, plan, place.references().compiled())));
  }
}
