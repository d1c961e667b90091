package dev.kbx.cli;

import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.generate.Answered;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.generate.Unit;
import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.method.Assignment;
import dev.kbx.method.History;
import dev.kbx.method.Next;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.Conditions.FeedbackKind;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.python.PythonProblem;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
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

  /**
   * The kernels that methods wrote, as files: {@code answers/METHOD/Category/task.py}, further
   * samples as {@code task.sample1.py}. Safe for several threads.
   */
  private static final class AnswerFiles {
    private final Path folder;

    /**
     * @param ledger the run's ledger, beside which they are
     */
    AnswerFiles(Path ledger) {
      this.folder = ledger.resolveSibling("answers");
    }

    /** Writes an answer that has code. */
    void write(Unit unit, Task task, Answered answered) {
      String code = answered.answer().code();
      if (code == null) return;
      String sample = unit.sample() == 0 ? "" : ".sample" + unit.sample();
      Path file = folder.resolve(unit.method()).resolve(task.path() + sample + ".py");
      try {
        Files.createDirectories(file.getParent());
      } catch (IOException e) {
        throw new UnwritableException(file, e);
      }
      AtomicFile.replace(file, writer -> writer.write(code));
    }

    Path folder() {
      return folder;
    }
  }

  /** {@code kbx generate --show-prompt TASK}. */
  private static final class ShownPrompt {
    private ShownPrompt() {}

    /** Prints what a method would send first. */
    static void print(
        GenerationFlags flags,
        WorkerOptions workers,
        MethodFlags method,
        Suite suite,
        List<Task> tasks)
        throws InterruptedException, PythonProblem {
      method.check(tasks);
      flags.check(tasks);
      Plan plan = flags.heldOut();
      boolean hardware = method.conditions(plan, tasks.getFirst()).hardware();
      try (WorkerPool pool =
          hardware ? WorkerPool.start(workers) : WorkerPool.withoutPython(workers)) {
        for (Task task : tasks) {
          PromptWriter writer =
              new PromptWriter(
                  flags.prompts(), method.conditions(plan, task), pool.device(), pool.peaks());
          String start =
              StartingKernels.of(method.from(), flags.out, suite, List.of(task))
                  .apply(task)
                  .orElse(null);
          print(method, task, start, writer);
        }
      }
    }

    private static void print(
        MethodFlags method, Task task, @Nullable String start, PromptWriter writer) {
      Assignment assignment = new Assignment(task, writer, start);
      Next next = method.options().open().next(assignment, History.empty());
      if (next instanceof Next.Work work && !work.asks().isEmpty()) {
        work.asks().getFirst().messages().forEach(ShownPrompt::print);
      } else if (next instanceof Next.Work work && work.consultation() != null) {
        writer.first(task, start).forEach(turn -> print(turn.role(), turn.text()));
      } else {
        System.err.println(
            "kbx: this method judges the kernel of --from first; it sends nothing before");
      }
    }

    private static void print(Message message) {
      print(message.role().name().toLowerCase(Locale.ROOT), message.text());
    }

    private static void print(String role, String text) {
      System.out.printf("--- %s%n%s%n", role, text.stripTrailing());
    }
  }
}
