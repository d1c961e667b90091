package dev.kbx.cli;

import dev.kbx.app.FolderLock;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.JudgingSettings;
import dev.kbx.app.MethodRun;
import dev.kbx.app.PreparedMethods;
import dev.kbx.app.RunPlan;
import dev.kbx.app.WorkerPool;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** A run of one method whose kernels are judged for feedback alone, on development inputs. */
record GenerationRun(
    MethodFlags method, GenerationFlags flags, Options.Workers workers, Options.Cluster cluster) {

  /**
   * Runs it, or goes on with it.
   *
   * @param answers receives answers, by the ledger of the run
   * @param finished receives the ledger when all trajectories have ended
   * @return exit code
   */
  Integer run(Function<Path, MethodRun.Answers> answers, Consumer<Path> finished) throws Exception {
    RunPlan heldOut = flags.heldOut();
    boolean profile = method.feedback() == FeedbackKind.PROFILE;
    RunPlan development = heldOut.with(heldOut.plan().development(profile));
    JudgingSettings where = workers.settings(cluster);
    try (PreparedMethods prepared = flags.prepared(List.of(method), development)) {
      boolean judges = prepared.settings().stream().anyMatch(m -> m.options().method().judges());
      boolean hardware =
          method.conditions(development.plan(), development.selected().getFirst()).hardware();
      workers.check();
      Path folder = flags.out.writable();
      try (var _ = FolderLock.of(folder);
          Interrupts interrupts = new Interrupts("interrupted; nothing was asked yet");
          JudgingPool pool =
              judges || hardware
                  ? JudgingPool.start(where, List.of(development.suite().suite()))
                  : WorkerPool.withoutPython(where)) {
        if (judges) {
          development
              .suite()
              .check(pool, development.plan(), development.selected(), where.observer());
        }
        List<PreparedMethod> methods = prepared.open(pool, where, flags.out.path());
        MethodRun run = new MethodRun(development, methods, where.observer());
        try (MethodRun.Opened opened = run.open(folder, pool, flags.resume)) {
          interrupts.advise(Interrupts.RESUMABLE);
          run.run(opened, pool, answers.apply(opened.file()));
          finished.accept(opened.file());
          return ProgramFailures.report(opened.file(), System.err);
        }
      }
    }
  }
}
