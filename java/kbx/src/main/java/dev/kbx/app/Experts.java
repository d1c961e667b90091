package dev.kbx.app;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Reading;
import dev.kbx.error.InputException;
import dev.kbx.plan.Plan;
import dev.kbx.task.Policy;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Kernels of experts, which candidates are timed beside. Each is judged before anything else is, in
 * a sandbox as a candidate's, and must be correct; who computes its result is its own business.
 */
public final class Experts {
  private final List<Candidate> kernels;

  private Experts(List<Candidate> kernels) {
    this.kernels = kernels;
  }

  /**
   * Reads files as sources of candidates are read.
   *
   * @throws InputException if one cannot be used, or if a task has two
   */
  public static Experts read(List<Path> files, RunPlan run) {
    if (files.isEmpty()) return new Experts(List.of());
    Reading reading = CandidateSources.read(files, run.suite().suite(), run.selected());
    if (!reading.problems().isEmpty()) {
      throw new InputException("--baseline: " + reading.problems().getFirst());
    }
    Map<String, Candidate> byTask = new HashMap<>();
    for (Candidate kernel : reading.candidates()) {
      Candidate other = byTask.putIfAbsent(kernel.task().path(), kernel);
      if (other != null) {
        throw new InputException(
            "--baseline: %s and %s are both for %s; give one of them"
                .formatted(other.origin(), kernel.origin(), kernel.task().path()));
      }
    }
    if (byTask.isEmpty()) {
      throw new InputException("--baseline: no kernel for a task of this run in " + files);
    }
    return new Experts(new ArrayList<>(byTask.values()));
  }

  /** Sources by the path of their task. */
  public Map<String, String> sources() {
    Map<String, String> sources = new HashMap<>();
    for (Candidate kernel : kernels) sources.put(kernel.task().path(), kernel.code());
    return sources;
  }

  /**
   * Judges each without timing it.
   *
   * @throws InputException if one is not correct
   */
  public void check(JudgingPool pool, Plan plan) throws InterruptedException {
    Plan untimed = plan.untimed().asking(List.of()).at(Optional.of(Policy.ANY));
    for (Candidate kernel : kernels) {
      Judgement found = pool.referee().judge(kernel, untimed);
      if (found.status() == Status.CORRECT) continue;
      String why = found.message() == null ? "" : ": " + found.message();
      throw new InputException(
          "--baseline %s: the expert's kernel must be correct and is %s%s"
              .formatted(kernel.origin(), found.status().label(), why));
    }
  }
}
