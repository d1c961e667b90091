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

  private final Bench bench;
  private final Slot slot;
  private final Plan plan;
  private final Verdict.Device device;
  private final Map<String, String> versions;

  Judge(Bench bench, Plan plan, Verdict.Device device, Map<String, String> versions) {
    this.bench = bench;
    this.slot = bench.slot();
    this.plan = plan;
    this.device = device;
    this.versions = versions;
  }

  /**
   * Judges a candidate.
   *
   * @throws DeviceLost when it could not be judged because this slot's device is gone
   */
  Judgement judge(Candidate candidate) throws InterruptedException {
    try (var _ = Span.of(candidate.task().path())) {
      return staged(candidate);
    }
  }

  private Judgement staged(Candidate candidate) throws InterruptedException {
    JudgementBuilder statics = new JudgementBuilder();
    Optional<Outcome> decided = StaticStage.decide(candidate, plan, statics);
    Precompiler.Compiled compiled =
        decided.isEmpty() ? compiled(candidate, statics) : Precompiler.Compiled.NOTHING;
    decided = decided.or(compiled::failure);
    Map<String, String> files = compiled.files();
    JudgementBuilder draft = statics;
    boolean alone = false;
    for (int failures = 0; decided.isEmpty(); ) {
      draft = new JudgementBuilder(statics);
      try {
        decided = run(candidate, draft, files, alone);
        alone = true; // A fault beside others may be theirs.
      } catch (WorkerFailure e) {
        if (slot.isLost()) throw new DeviceLost(device(), e);
        if (failures++ == RETRIES) {
          decided = Optional.of(Outcome.of(Status.INFRASTRUCTURE, Stage.CALL, e.getMessage()));
        }
      } catch (RuntimeException e) {
        // A fault of kbx, which one candidate has met: the others are judged all the same.
        decided =
            Optional.of(
                Outcome.of(
                    Status.INFRASTRUCTURE, Stage.CALL, "kbx failed on this candidate: " + e));
      }
    }
    return judgement(draft, decided.get());
  }

  /** The judgement of a candidate under which devices were lost, so that no other is risked. */
  Judgement givenUp(DeviceLost lost) {
    return judgement(
        new JudgementBuilder(),
        Outcome.of(Status.INFRASTRUCTURE, Stage.CALL, "given up: " + lost.getMessage()));
  }

  private Judgement judgement(JudgementBuilder draft, Outcome outcome) {
    return draft.judgement(plan, device(), versions, outcome);
  }

  private Precompiler.Compiled compiled(Candidate candidate, JudgementBuilder draft)
      throws InterruptedException {
    // Without a GPU kernels are compiled as they are called; C++ takes longer than a call may.
    if (slot.gpu() == null && !candidate.bringsCpp()) {
      return Precompiler.Compiled.NOTHING;
    }
    Precompiler precompiler = new Precompiler(bench, plan, draft, versions);
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

  /** The device that judged, where its oracle has said which it is. */
  private Verdict.Device device() {
    return slot.described().orElse(device);
  }

  /**
   * Takes a candidate through its stages on this slot.
   *
   * @param alone whether nobody may use the GPU meanwhile, in no stage
   * @return empty for a fault that others on the GPU may have caused: it takes memory and time that
   *     they had
   */
  private Optional<Outcome> run(
      Candidate candidate, JudgementBuilder draft, Map<String, String> files, boolean alone)
      throws InterruptedException {
    GpuBench place = bench.gpu();
    if (place == null) {
      return Optional.of(new Correctness(slot, plan, candidate, draft, true).judge(files));
    }
    Outcome outcome;
    boolean sound;
    Gpu gpu = place.gpu();
    MemoryRequirements needs = gpu.needs(candidate.task());
    Plan own = plan.with(needs);
    Correctness correctness = new Correctness(slot, own, candidate, draft, alone);
    try (ConcurrencyLimit.Pass _ = gpu.admit();
        SharedExclusiveLock.Held held =
            alone ? gpu.lease().alone() : gpu.lease().shared(needs.part())) {
      outcome = correctness.judge(files);
      boolean fault = outcome.isFault() || correctness.faulted();
      boolean othersFault = fault && held.company();
      if (othersFault || (!alone && wantsRoom(needs, outcome))) return Optional.empty();
      sound = !fault || slot.computes();
    }
    // Whoever came beside it may have filled the GPU, which then only looks lost.
    if (!sound && slot.isLost()) return Optional.of(outcome);
    if (outcome.status() != Status.CORRECT || !plan.reaches(Stage.PERF)) {
      return Optional.of(outcome);
    }
    if (!correctness.sized()) {
      draft.flags(List.of("no_sizes"));
      return Optional.of(outcome);
    }
    try (var _ = gpu.lease().alone()) {
      Performance performance = new Performance(place, own, candidate, draft);
      Outcome timed = performance.judge(files);
      // After a fault the device is looked at before anybody else uses it.
      if (performance.faulted() || timed.isFault()) slot.probe();
      if (timed.status() == Status.CORRECT && !slot.lost()) {
        compare(place, candidate, draft);
        profile(place, candidate, draft, files);
      }
      return Optional.of(timed);
    }
  }

  /**
   * Whether alone, with all the memory there is and an oracle that may do without float64, it may
   * end otherwise.
   */
  private static boolean wantsRoom(MemoryRequirements needs, Outcome outcome) {
    return !needs.usual()
        && (outcome.status() == Status.OUT_OF_MEMORY || outcome.status() == Status.INFRASTRUCTURE);
  }

  /** Last, when nothing is left to decide: what fails here is noted and decides nothing. */
  private void profile(
      GpuBench place, Candidate candidate, JudgementBuilder draft, Map<String, String> files)
      throws InterruptedException {
    if (!plan.profile() || draft.timing() == null) return;
    Profile found =
        place
            .gpu()
            .spending()
            .on("profile", () -> place.profiler().of(candidate, plan.arch(), files));
    draft.profile(found);
    if (found.failure() != null) slot.probe();
  }

  /** After the candidate's process: it could make a baseline slow that others are measured by. */
  private void compare(GpuBench place, Candidate candidate, JudgementBuilder draft)
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
