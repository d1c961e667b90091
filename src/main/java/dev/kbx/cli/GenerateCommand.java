package dev.kbx.cli;

import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.Conditions.FeedbackKind;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kbx generate}: lets a method write kernels; judges only what it needs for feedback. */
@Command(
    name = "generate",
    description = "Let a method and a model write kernels.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Under --out: runs/<run id>/ledger.jsonl with every prompt, reply and",
      "judgement, and answers/METHOD/Category/task.py, which 'kbx eval' judges.",
      "'kbx run' does both. What the referee finds on the way is about development",
      "inputs, not the final ones."
    })
final class GenerateCommand implements Callable<Integer> {
  @Option(
      names = "--show-prompt",
      paramLabel = "TASK",
      description = "Print what would be sent first for a task, and send nothing.")
  private @Nullable String shown;

  @Mixin private MethodFlags method = new MethodFlags();
  @Mixin private GenerationFlags flags = new GenerationFlags();
  @Mixin private WorkerOptions workers = new WorkerOptions();
  @Mixin private ClusterOptions cluster = new ClusterOptions();

  @Override
  public Integer call() throws Exception {
    Suite suite = flags.asked.open();
    if (shown != null) {
      ShownPrompt.print(flags, workers, method, suite, suite.find(shown));
      return ExitCode.OK;
    }
    List<Task> selected = flags.select(suite);
    Plan development = flags.heldOut().development(method.feedback() == FeedbackKind.PROFILE);
    try (PreparedMethods prepared = new PreparedMethods(flags, suite, selected, development)) {
      List<MethodSettings> settings = prepared.settings(List.of(method));
      boolean judges = settings.stream().anyMatch(m -> m.options().judges());
      boolean hardware = method.conditions(development, selected.getFirst()).hardware();
      workers.check();
      Path folder = OutFolder.writable(flags.out);
      try (var _ = FolderLock.of(folder);
          Interrupts interrupts = new Interrupts("interrupted; nothing was asked yet");
          JudgingPool pool =
              judges || hardware
                  ? JudgingPool.start(workers, cluster, List.of(suite))
                  : WorkerPool.withoutPython(workers)) {
        if (judges) flags.asked.check(pool, development, selected);
        List<PreparedMethod> methods = prepared.open(List.of(method), pool, workers);
        MethodRun run = new MethodRun(flags, methods, selected, development);
        try (MethodRun.Opened opened = run.open(folder, pool)) {
          interrupts.advise(Interrupts.RESUMABLE);
          AnswerFiles files = new AnswerFiles(opened.file());
          run.run(opened, pool, (unit, task, _, answered) -> files.write(unit, task, answered));
          print(opened.file(), files.folder());
          return ProgramFailures.report(opened.file(), System.err);
        }
      }
    }
  }

  private void print(Path ledger, Path answers) {
    List<TrajectoryRow> rows = LedgerRows.of(ledger, List.of());
    if (flags.json) {
      Map<String, ?> document =
          Map.of(
              "methods", TrajectoryRates.of(rows),
              "ledger", ledger.toString(),
              "answers", answers.toString());
      System.out.println(
          Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(document));
      return;
    }
    System.out.print(EvalOutput.trajectories(rows));
    System.out.println("answers: " + answers);
    System.out.println("ledger: " + ledger);
    System.out.printf(
        "report: none yet; 'kbx eval %s' judges the answers on all inputs%n", answers);
  }
}
