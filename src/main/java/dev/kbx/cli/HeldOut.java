package dev.kbx.cli;

import dev.kbx.candidate.Candidate;
import dev.kbx.generate.Answered;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.generate.Unit;
import dev.kbx.plan.Plan;
import dev.kbx.report.LatestRun;
import dev.kbx.report.ResultFiles;
import dev.kbx.run.RememberingReferee;
import dev.kbx.run.RunService;
import dev.kbx.store.RunStore;
import dev.kbx.store.Stored;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The final judgement of a run's answers, on inputs that no method has seen. Answers are judged as
 * they come, while methods go on.
 */
final class HeldOut implements AutoCloseable {
  private final RunStore store;
  private final RunInfo run;
  private final LatestRun latest;
  private final ResultFiles files;
  private final RunService service;
  private final List<Task> selected;
  private final Map<String, Integer> correct = new TreeMap<>();

  private HeldOut(
      RunStore store, RunInfo run, Path folder, Plan plan, WorkerPool pool, List<Task> selected) {
    this.store = store;
    this.run = run;
    this.selected = selected;
    this.latest = new LatestRun(folder, run.id());
    this.files = new ResultFiles(latest.folder());
    files.rewrite(line -> store.forEach(run.id(), stored -> count(line, stored)));
    this.service =
        RunService.open(
            store, new RememberingReferee(pool.referee(), store), plan, run, this::judged);
  }

  /** Begins the final judgement of a run, or goes on with it. */
  static HeldOut open(
      RunStore store,
      Path folder,
      Plan plan,
      WorkerPool pool,
      GenerationFlags flags,
      MethodRun methods,
      MethodRun.Opened opened) {
    RunInfo run =
        store.run(opened.run()).orElseGet(() -> begin(store, plan, pool, flags, methods, opened));
    store.claim(run.id());
    return new HeldOut(store, run, folder, plan, pool, methods.selected());
  }

  private static RunInfo begin(
      RunStore store,
      Plan plan,
      WorkerPool pool,
      GenerationFlags flags,
      MethodRun methods,
      MethodRun.Opened opened) {
    List<Task> selected = methods.selected();
    RunInfo run =
        new RunInfo(
            opened.run(),
            Instant.now(),
            null,
            methods.settings().stream().map(m -> m.name() + " by " + m.model()).toList(),
            flags.asked.label(),
            flags.tasks,
            plan.stages(),
            flags.rules.off(),
            pool.device(),
            pool.versions(),
            methods.work().size(),
            (int) selected.stream().filter(task -> !task.extra()).count(),
            plan.against(),
            plan.tolerance().label(),
            plan.grade().label(),
            plan.precision().label(),
            plan.policies(selected),
            plan.publishedAccounting(),
            RunService.settings(plan, List.of()));
    store.begin(run);
    return run;
  }

  /** Submits an answer; one without code is judged as that. */
  void submit(Unit unit, Task task, PreparedMethod method, Answered answered)
      throws InterruptedException {
    String code = answered.answer().code();
    var _ =
        service.submit(
            new Candidate(
                task,
                code == null ? "" : code,
                "ledger.jsonl",
                unit.sample(),
                unit.method(),
                method.settings().model(),
                null));
  }

  private synchronized void judged(Stored stored, Verdict verdict) {
    files.append(stored.json());
    if (isCorrect(verdict)) correct.merge(method(verdict), 1, Integer::sum);
  }

  private void count(java.util.function.Consumer<String> line, Stored stored) {
    line.accept(stored.json());
    Verdict verdict = stored.verdict();
    if (isCorrect(verdict)) correct.merge(method(verdict), 1, Integer::sum);
  }

  private static boolean isCorrect(Verdict verdict) {
    return verdict.status() == dev.kbx.verdict.Status.CORRECT;
  }

  private static String method(Verdict verdict) {
    return String.valueOf(verdict.method());
  }

  /** Correct answers of a method so far. */
  synchronized int correct(String method) {
    return correct.getOrDefault(method, 0);
  }

  /** Waits for all judgements and writes the run's files. */
  RunResults finish() throws InterruptedException {
    service.finish();
    latest.link();
    RunResults results = RunResults.finish(store, run, files, selected, List.of());
    latest.link();
    return results;
  }

  Path folder() {
    return latest.folder();
  }

  @Override
  public void close() {
    service.close();
    files.close();
  }
}
