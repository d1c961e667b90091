package dev.kbx.cli;

import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.app.Home;
import dev.kbx.app.JudgingSettings;
import dev.kbx.app.Ledgers;
import dev.kbx.app.RunPlan;
import dev.kbx.app.StartingKernels;
import dev.kbx.app.WorkerPool;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.generate.Generation;
import dev.kbx.generate.Unit;
import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.method.History;
import dev.kbx.method.Method;
import dev.kbx.method.Next;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.task.Task;
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
      "Example:",
      "  kbx generate --method refine --model openai:NAME --tasks 'Math/*'",
      "",
      "Under --out: runs/<run id>/ledger.jsonl with every prompt, reply and",
      "judgement, and answers/METHOD/Category/task.py, which 'kbx eval' judges.",
      "'kbx run' does both. What the referee finds on the way is about development",
      "inputs, not the final ones."
    })
final class GenerateCommand implements Callable<Integer> {
  @HelpSection.In(HelpSection.PROMPT)
  @Option(
      names = "--show-prompt",
      paramLabel = "TASK",
      description = "Print what would be sent first for a task, and send nothing.")
  private @Nullable String shown;

  @Mixin private MethodFlags method = new MethodFlags();
  @Mixin private GenerationFlags flags = new GenerationFlags();
  @Mixin private Options.Workers workers = new Options.Workers();
  @Mixin private Options.Cluster cluster = new Options.Cluster();

  @Override
  public Integer call() throws Exception {
    if (shown != null) {
      ShownPrompt.print(flags, workers.settings(), method, shown);
      return ExitCode.OK;
    }
    return new GenerationRun(method, flags, workers, cluster)
        .run(
            ledger -> {
              AnswerFiles files = new AnswerFiles(ledger);
              return (unit, task, _, answered) -> files.write(unit, task, answered);
            },
            this::print);
  }

  private void print(Path ledger) {
    Path answers = AnswerFiles.folder(ledger);
    List<TrajectoryRow> rows = Ledgers.rows(ledger, List.of());
    if (flags.json.isAsked()) {
      Map<String, ?> document =
          Map.of(
              "methods", TrajectoryRates.of(rows),
              "ledger", ledger.toString(),
              "answers", answers.toString());
      Options.JsonFlag.print(document);
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
      this.folder = folder(ledger);
    }

    static Path folder(Path ledger) {
      return ledger.resolveSibling("answers");
    }

    /** Writes an answer that has code. */
    void write(Unit unit, Task task, Generation.Answered answered) {
      String code = answered.answer().code();
      if (code == null) return;
      String sample = unit.sample() == 0 ? "" : ".sample" + unit.sample();
      Path file = folder.resolve(unit.method()).resolve(task.path() + sample + ".py");
      UnwritableException.naming(file, () -> Files.createDirectories(file.getParent()));
      AtomicFile.replace(file, writer -> writer.write(code));
    }
  }

  /** {@code kbx generate --show-prompt TASK}. */
  private static final class ShownPrompt {
    private ShownPrompt() {}

    /** Prints what a method would send first. */
    static void print(
        GenerationFlags flags, JudgingSettings where, MethodFlags method, String shown)
        throws InterruptedException {
      RunPlan asked = flags.judging.options().tasks(shown).runPlan(Home.here());
      List<Task> tasks = asked.selected();
      Plan plan = asked.plan();
      method.check(tasks);
      boolean hardware = method.conditions(plan, tasks.getFirst()).hardware();
      try (WorkerPool pool = hardware ? WorkerPool.start(where) : WorkerPool.withoutPython(where)) {
        for (Task task : tasks) {
          PromptWriter writer =
              new PromptWriter(
                  flags.prompts(), method.conditions(plan, task), pool.device(), pool.peaks());
          String start =
              StartingKernels.of(
                      method.from(), flags.out.path(), asked.suite().suite(), List.of(task))
                  .apply(task)
                  .orElse(null);
          print(method, task, start, writer);
        }
      }
    }

    private static void print(
        MethodFlags method, Task task, @Nullable String start, PromptWriter writer) {
      Method.Assignment assignment = new Method.Assignment(task, writer, start);
      Next next =
          method.options().method().open(method.options()).next(assignment, History.empty());
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
