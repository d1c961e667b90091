package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.RunExport;
import dev.kbx.app.TrainingFilter;
import dev.kbx.error.InputException;
import dev.kbx.task.Policy;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx export}: a run in the files of another harness. */
@Command(
    name = "export",
    description = "Write a run as the files of another harness.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "kernelbench: a run folder of KernelBench. Every kernel is a file,",
      "level_L_problem_P_sample_S_kernel.py, beside eval_results.json, with prompts",
      "and generation_config.yaml if methods wrote the kernels or such a folder had",
      "them. Where kernels were timed, the references' times are under",
      "results/timing.",
      "",
      "Of a run of methods (kbx generate, kbx run) also:",
      "predictions: predictions.jsonl of KernelBench-X, a line for each answer.",
      "geak: METHOD_0.jsonl, METHOD_1.jsonl, …: the best kernels after each round.",
      "corpus: corpus.jsonl, KernelBench-X's iteration corpus: what a round changed.",
      "",
      "training: verified kernels for fine-tuning, training.jsonl and",
      "training.parquet, with what the model was asked and its reply if methods wrote",
      "them.",
      "",
      "sol-execbench, flashinfer: of a run on imported definitions, a solution for",
      "each candidate and a trace for each of its workloads.",
      "",
      "sarif: verdicts.sarif, SARIF 2.1.0: what failed, in its file and line, for",
      "code hosts and editors."
    })
final class ExportCommand implements Callable<Integer> {
  private static final String KERNELBENCH = "kernelbench";
  private static final String PREDICTIONS = "predictions";
  private static final String GEAK = "geak";
  private static final String CORPUS = "corpus";
  private static final String TRAINING = "training";
  private static final String SARIF = "sarif";
  private static final String SOL = "sol-execbench";
  private static final String FLASHINFER = "flashinfer";
  private static final List<String> FORMATS =
      List.of(KERNELBENCH, PREDICTIONS, GEAK, CORPUS, TRAINING, SARIF, SOL, FLASHINFER);

  @Mixin private Options.Results results = new Options.Results();

  @Parameters(
      index = "0",
      paramLabel = "FORMAT",
      description =
          "kernelbench, predictions, geak, corpus, training, sarif, sol-execbench or flashinfer.")
  private String format = KERNELBENCH;

  @Parameters(index = "1", paramLabel = "DIR", description = "A new or empty folder.")
  private Path target = Path.of("");

  @Parameters(
      index = "2",
      arity = "0..1",
      paramLabel = "RUN",
      description = "Id of the run. Default: the newest in --out.")
  private @Nullable String run;

  /** The name that it had. */
  @Option(names = "--run", hidden = true)
  void formerly(String given) {
    run = given;
  }

  @Option(names = "--method", paramLabel = "NAME", description = "Only this method of the run.")
  private @Nullable String method;

  @Option(
      names = "--rounds",
      description = "predictions: every kernel of a method with its round, not only answers.")
  private boolean rounds;

  @Mixin private TrainingFlags training = new TrainingFlags();

  @Override
  public Integer call() {
    if (!FORMATS.contains(format)) {
      throw new InputException(
          "export: no format '%s'; there are %s".formatted(format, String.join(", ", FORMATS)));
    }
    if (rounds && !format.equals(PREDICTIONS)) {
      throw new InputException("--rounds: only predictions have a choice; leave it away");
    }
    if (!format.equals(TRAINING)) training.refuse(format);
    RunExport export =
        new RunExport(Home.here(), results.folder(), run, method, target, new TerminalObserver());
    switch (format) {
      case PREDICTIONS -> export.predictions(rounds);
      case GEAK -> export.geak();
      case CORPUS -> export.corpus();
      case SARIF -> export.sarif();
      case SOL -> export.traces(true);
      case FLASHINFER -> export.traces(false);
      case TRAINING -> export.training(training.filter(), training.licence());
      default -> export.kernelbench();
    }
    return ExitCode.OK;
  }

  /** Options of {@code kbx export training}. */
  private static final class TrainingFlags {
    @Option(
        names = "--grade",
        paramLabel = "GRADE",
        description =
            "training: kernels that are right at this grade, published or general. Default: the one"
                + " that the run was judged at.")
    private @Nullable String grade;

    @Option(
        names = "--min-speedup",
        paramLabel = "X",
        description =
            "training: kernels whose speedup is at least X with confidence: the lower end of its"
                + " interval.")
    private @Nullable Double least;

    @Option(
        names = "--policy",
        paramLabel = "POLICY",
        description = "training: kernels judged under this policy, kernel or mixed.")
    private @Nullable String policy;

    @Option(
        names = "--near-duplicates",
        description =
            "training: also kernels of a task that differ in names, constants and layout alone. By"
                + " default the fastest of them is kept.")
    private boolean duplicates;

    @Option(
        names = "--licence",
        paramLabel = "TEXT",
        description = "training: licence of the kernels, such as an SPDX name, for every example.")
    private @Nullable String licence;

    /** The filter. Throws for values that no verdict can have. */
    TrainingFilter filter() {
      if (least != null && !(least > 0 && least < Double.POSITIVE_INFINITY)) {
        throw new InputException(
            "--min-speedup %s: is not a speedup, such as 1.2".formatted(least));
      }
      if (policy != null && Policy.of(policy).isEmpty()) {
        throw new InputException("--policy: '%s' is not one of kernel,mixed".formatted(policy));
      }
      return new TrainingFilter(
          grade == null ? null : Options.GradeChoice.parse(grade), least, policy, duplicates);
    }

    @Nullable String licence() {
      return licence;
    }

    /** Throws if one of these was given for another format. */
    void refuse(String format) {
      boolean any =
          grade != null || least != null || policy != null || licence != null || duplicates;
      if (!any) return;
      throw new InputException(
          "export %s: --grade, --min-speedup, --policy, --near-duplicates and --licence are for the format training"
              .formatted(format));
    }
  }
}
