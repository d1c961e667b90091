package dev.kbx.app;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Problem;
import dev.kbx.candidate.Reading;
import dev.kbx.error.InputException;
import dev.kbx.judge.Dispatcher;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Plan;
import dev.kbx.task.Policy;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Kernels of experts, which candidates are timed beside. Each is judged before anything else is, in
 * a sandbox as a candidate's, and must be correct; who computes its result is its own business.
 */
public final class Experts {
  private final List<Candidate> kernels;

  /** Throws if a task has two. */
  private Experts(List<Candidate> kernels) {
    Map<Task, Candidate> byTask = new HashMap<>();
    for (Candidate kernel : kernels) {
      Candidate other = byTask.putIfAbsent(kernel.task(), kernel);
      if (other != null) {
        throw new InputException(
            "--baseline: %s and %s are both for %s; give one of them"
                .formatted(other.origin(), kernel.origin(), kernel.task().path()));
      }
    }
    this.kernels = kernels;
  }

  /**
   * Files of experts' kernels, for a command whose requests have no baseline of their own to name.
   *
   * @param others what is to be said about a name of another baseline
   * @throws InputException if one does not exist
   */
  public static List<Path> existing(List<Path> files, String others) {
    for (Path file : files) {
      if (Files.exists(file)) continue;
      throw new InputException(
          Baseline.of(file.toString()).isPresent()
              ? "--baseline %s: %s; give files or folders of an expert's kernels"
                  .formatted(file, others)
              : "--baseline %s: no such file or folder".formatted(file));
    }
    return files;
  }

  /**
   * Reads files as sources of candidates are read.
   *
   * @throws InputException if one cannot be used, or if a task has two
   */
  public static Experts read(List<Path> files, RunPlan run) {
    if (files.isEmpty()) return new Experts(List.of());
    Reading reading = CandidateSources.read(files, run.suite().suite(), run.selected());
    if (!reading.problems().isEmpty()) throw unusable(reading.problems().getFirst());
    if (reading.candidates().isEmpty()) {
      throw new InputException("--baseline: no kernel for a task of this run in " + files);
    }
    return new Experts(reading.candidates());
  }

  /**
   * The same for several suites: a kernel is for the first of them that has its task.
   *
   * @throws InputException if one is for none of them
   */
  public static Experts read(List<Path> files, Collection<Suite> suites) {
    if (files.isEmpty()) return new Experts(List.of());
    List<Candidate> kernels = new ArrayList<>();
    List<Problem> problems = new ArrayList<>();
    for (Suite suite : suites) {
      Reading reading = CandidateSources.read(files, suite);
      Set<String> known = kernels.stream().map(Candidate::origin).collect(Collectors.toSet());
      reading.candidates().stream()
          .filter(kernel -> !known.contains(kernel.origin()))
          .forEach(kernels::add);
      problems.addAll(reading.problems());
    }
    for (Problem problem : problems) {
      if (kernels.stream().noneMatch(kernel -> problem.covers(kernel.origin()))) {
        throw unusable(problem);
      }
    }
    return new Experts(kernels);
  }

  private static InputException unusable(Problem problem) {
    return new InputException("--baseline: " + problem);
  }

  public boolean isEmpty() {
    return kernels.isEmpty();
  }

  /** That nothing is timed beside them, where that is so. */
  public Optional<String> untimed(Verdict.Device device) {
    return isEmpty() || device.onGpu()
        ? Optional.empty()
        : Optional.of("--baseline: no GPU is used, so nothing is timed beside the expert's kernel");
  }

  /** Sources for a suite, by the path of their task. */
  public Map<String, String> sources(Suite suite) {
    return kernels.stream()
        .filter(kernel -> kernel.task().suite().equals(suite.name()))
        .collect(Collectors.toMap(kernel -> kernel.task().path(), Candidate::code));
  }

  /**
   * Judges each without timing it.
   *
   * @throws InputException if one is not correct
   */
  public void check(Referee referee, Plan plan) throws InterruptedException {
    Plan untimed = plan.untimed().asking(List.of()).at(Optional.of(Policy.ANY));
    int atATime = Math.max(1, referee.capacity());
    Dispatcher.run(atATime, kernels, kernel -> check(kernel, referee.judge(kernel, untimed)));
  }

  private static void check(Candidate kernel, Judgement found) {
    if (found.status() == Status.CORRECT) return;
    String why = found.message() == null ? "" : ": " + found.message();
    throw new InputException(
        "--baseline %s: the expert's kernel must be correct and is %s%s"
            .formatted(kernel.origin(), found.status().label(), why));
  }
}
