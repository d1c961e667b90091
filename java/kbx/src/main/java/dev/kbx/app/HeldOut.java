package dev.kbx.app;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.Source;
import dev.kbx.generate.Generation;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.generate.Unit;
import dev.kbx.report.LatestRun;
import dev.kbx.report.ResultFiles;
import dev.kbx.run.RememberingReferee;
import dev.kbx.run.RunService;
import dev.kbx.store.RunStore;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Path;
import java.util.List;

/**
 * The final judgement of a run's answers, on inputs that no method has seen. Answers are judged as
 * they come, while methods go on.
 */
public final class HeldOut implements AutoCloseable {
  private final RunStore store;
  private final RunInfo run;
  private final LatestRun latest;
  private final ResultFiles files;
  private final RunService service;
  private final List<Task> selected;
  private final Path ledger;

  private HeldOut(
      RunStore store, RunInfo run, Path folder, Path ledger, RunPlan asked, JudgingPool pool) {
    this.store = store;
    this.run = run;
    this.selected = asked.selected();
    this.ledger = ledger;
    this.latest = new LatestRun(folder, run.id());
    this.files = new ResultFiles(latest.folder());
    files.rewrite(line -> store.forEach(run.id(), stored -> line.accept(stored.json())));
    this.service =
        RunService.open(
            store,
            new RememberingReferee(pool.referee(), store),
            asked.plan(),
            run,
            (stored, _) -> files.append(stored.json()));
  }

  /** Begins the final judgement of a run, or goes on with it. */
  public static HeldOut open(
      RunStore store,
      Path folder,
      RunPlan asked,
      JudgingPool pool,
      MethodRun methods,
      MethodRun.Opened opened) {
    String id = opened.run();
    store.claim(id);
    RunInfo run =
        store
            .run(id)
            .orElseGet(() ->
                asked.begin(
                    store,
                    id,
                    methods.settings().stream().map(m -> m.name() + " by " + m.model()).toList(),
                    pool,
                    methods.work().size(),
                    List.of()));
    FolderLock.judges(folder, id);
    return new HeldOut(store, run, folder, opened.file(), asked, pool);
  }

  /** Submits an answer; one without code is judged as that. */
  public void submit(Unit unit, Task task, PreparedMethod method, Generation.Answered answered)
      throws InterruptedException {
    String code = answered.answer().code();
    var _ =
        service.submit(
            new Candidate(
                task,
                new Source.Text(code == null ? "" : code),
                origin(unit, answered),
                unit.sample(),
                unit.method(),
                method.settings().model(),
                null,
                method.settings().conditions()));
  }

  /** What tables name a candidate by, in place of a file: the method, and the request's id. */
  private static String origin(Unit unit, Generation.Answered answered) {
    String ask = answered.answer().ask();
    return ask == null ? unit.method() : unit.method() + " " + ask;
  }

  /** Waits for all judgements and writes the run's files. */
  public RunResults finish() throws InterruptedException {
    service.finish();
    latest.link();
    RunResults results = RunResults.finish(store, run, files, selected, List.of(), ledger);
    latest.link();
    return results;
  }

  @Override
  public void close() {
    service.close();
    files.close();
  }
}
