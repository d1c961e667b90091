package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.Reason;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.RunResults;
import dev.kbx.app.UserError;
import dev.kbx.document.Counted;
import dev.kbx.generate.Header;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.Transcript;
import dev.kbx.generate.Transcript.Trajectory;
import dev.kbx.report.RunFolder;
import dev.kbx.report.RunVerdicts;
import dev.kbx.store.RunStore;
import dev.kbx.task.InvalidSuite;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.task.UnknownTask;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
      "them."
    })
final class ExportCommand implements Callable<Integer> {
  private static final String KERNELBENCH = "kernelbench";
  private static final String PREDICTIONS = "predictions";
  private static final String GEAK = "geak";
  private static final String CORPUS = "corpus";
  private static final String TRAINING = "training";
  private static final List<String> FORMATS =
      List.of(KERNELBENCH, PREDICTIONS, GEAK, CORPUS, TRAINING);

  @Mixin private ResultsOption results = new ResultsOption();

  @Parameters(
      index = "0",
      paramLabel = "FORMAT",
      description = "kernelbench, predictions, geak, corpus or training.")
  private String format = KERNELBENCH;

  @Parameters(index = "1", paramLabel = "DIR", description = "A new or empty folder.")
  private Path target = Path.of("");

  @Option(names = "--run", paramLabel = "RUN", description = "Default: the newest in --out.")
  private @Nullable String run;

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
      throw new UserError(
          "export: no format '%s'; there are %s".formatted(format, String.join(", ", FORMATS)));
    }
    if (rounds && !format.equals(PREDICTIONS)) {
      throw new UserError("--rounds: only predictions have a choice; leave it away");
    }
    if (format.equals(TRAINING)) return training();
    training.refuse(format);
    return format.equals(KERNELBENCH) ? runFolder() : files();
  }

  /** What methods wrote, from their ledger. */
  private int files() {
    String id = run;
    Path ledger =
        (id == null ? results.folder().newestLedger() : results.folder().ledger(id))
            .orElseThrow(() ->
                new UserError(
                    "export: %s by methods; the formats kernelbench and training are for all runs"
                        .formatted(
                            id == null
                                ? "no run in %s was written".formatted(results.folder().place())
                                : "run %s was not written".formatted(id))));
    Transcript transcript = Transcript.read(ledger);
    List<Trajectory> chosen = chosen(transcript);
    TranscriptExport export =
        new TranscriptExport(empty(target), chosen, conditions(transcript.header()));
    int lines =
        switch (format) {
          case PREDICTIONS -> export.predictions(rounds);
          case GEAK -> export.geak(references(transcript.header()));
          default -> export.corpus();
        };
    if (lines == 0) {
      throw new UserError(
          "run %s has %s: nothing was written"
              .formatted(
                  transcript.header().run(),
                  format.equals(CORPUS) ? "no second round with a kernel" : "no kernel"));
    }
    System.err.printf(
        "kbx: run %s: %s in %s%n", transcript.header().run(), Counted.of(lines, "line"), target);
    return ExitCode.OK;
  }

  private List<Trajectory> chosen(Transcript transcript) {
    if (method == null) return transcript.trajectories();
    List<Trajectory> of =
        transcript.trajectories().stream().filter(each -> each.method().equals(method)).toList();
    if (!of.isEmpty()) return of;
    throw new UserError(
        "--method: run %s has none called %s; it has %s"
            .formatted(
                transcript.header().run(),
                method,
                TranscriptExport.names(transcript.trajectories())));
  }

  private static Map<String, Map<String, String>> conditions(Header header) {
    return header.methods().stream()
        .collect(Collectors.toMap(MethodSettings::name, MethodSettings::conditions));
  }

  /** The sources of references by task; none if the suite is not here. */
  private static Map<String, String> references(Header header) {
    Map<String, String> references = new HashMap<>();
    try {
      for (Task task : Home.here().suite(header.suite()).find(header.tasks())) {
        references.put(task.path(), task.reference());
      }
    } catch (InvalidSuite | UnknownTask _) {
      // An own reference, or a suite of another machine.
    }
    return references;
  }

  /** Verified kernels, to learn from. */
  private int training() {
    TrainingFilter filter = training.filter();
    try (RunStore store = results.folder().open()) {
      RunInfo chosen = judged(store);
      List<Verdict> verdicts =
          store.verdicts(chosen.id()).values().stream()
              .filter(verdict -> method == null || method.equals(verdict.provenance().method()))
              .toList();
      TrainingFilter.Kept kept = filter.of(verdicts);
      if (kept.verdicts().isEmpty()) {
        throw new UserError(
            "run %s has no kernel to learn from: of %s left out are %s"
                .formatted(
                    chosen.id(),
                    Counted.of(verdicts.size(), "verdict"),
                    TrainingFlags.words(kept.leftOut())));
      }
      List<Trajectory> trajectories =
          results
              .folder()
              .ledger(chosen.id())
              .map(ledger -> Transcript.read(ledger).trajectories())
              .orElse(List.of());
      TrainingExport export =
          new TrainingExport(empty(target), store, chosen, trajectories, training.licence());
      boolean parquet = export.write(filter, kept);
      System.err.printf(
          "kbx: run %s: %s of %s in %s; left out: %s%n",
          chosen.id(),
          Counted.of(kept.verdicts().size(), "example"),
          Counted.of(verdicts.size(), "verdict"),
          target,
          TrainingFlags.words(kept.leftOut()));
      if (!parquet) {
        System.err.println(
            "kbx: this bundle has no Parquet, so there is only training.jsonl; a checkout has it");
      }
      return ExitCode.OK;
    }
  }

  /** The run, which kbx judged. */
  private RunInfo judged(RunStore store) {
    RunInfo chosen = chosen(store);
    if (chosen.published() == null) return chosen;
    throw new UserError(
        "run %s is as published: none of its kernels is verified; 'kbx eval' judges them"
            .formatted(chosen.id()));
  }

  private int runFolder() {
    try (RunStore store = results.folder().open()) {
      RunInfo chosen = judged(store);
      RunVerdicts verdicts =
          method == null
              ? RunResults.verdicts(store, chosen.id())
              : RunResults.verdicts(store, chosen.id(), method);
      RunFolder.Written written =
          new RunFolder(empty(target)).write(verdicts, verdict -> source(store, verdict));
      if (written.kernels() == 0) {
        throw new UserError(
            "run %s has no verdict on a task of KernelBench: nothing was written"
                .formatted(chosen.id()));
      }
      Requests requests =
          results.folder().ledger(chosen.id()).map(this::requests).orElse(new Requests(0, false));
      int prompts = written.prompts() + requests.prompts();
      System.err.printf(
          "kbx: run %s: %s%s%s in %s%n",
          chosen.id(),
          Counted.of(written.kernels(), "kernel"),
          prompts == 0 ? "" : ", " + Counted.of(prompts, "prompt"),
          written.configuration() || requests.configuration() ? ", generation_config.yaml" : "",
          target);
      if (written.untimed() > 0) warn(written.untimed(), chosen.id());
      return ExitCode.OK;
    }
  }

  /**
   * What was written of the requests of a run of methods.
   *
   * @param configuration whether there is one, which needs exactly one method
   */
  private record Requests(int prompts, boolean configuration) {}

  private Requests requests(Path ledger) {
    Transcript transcript = Transcript.read(ledger);
    List<Trajectory> chosen = chosen(transcript);
    GenerationConfig config = new GenerationConfig(target);
    int prompts = config.prompts(chosen);
    List<String> names = chosen.stream().map(Trajectory::method).distinct().toList();
    if (names.size() != 1) return new Requests(prompts, false);
    for (MethodSettings settings : transcript.header().methods()) {
      if (!settings.name().equals(names.getFirst())) continue;
      config.configuration(transcript.header(), settings, chosen);
    }
    return new Requests(prompts, true);
  }

  /** Warns that KernelBench's scripts have no value for an unknown time. */
  private static void warn(int untimed, String run) {
    System.err.printf(
        "kbx: %s without a runtime: KernelBench's analysis script reads -1 as a negative speedup,"
            + " and counts none of them in fast_0; kbx analyze fastp %s does%n",
        Counted.of(untimed, "correct kernel"), run);
  }

  private static String source(RunStore store, Verdict verdict) {
    return store
        .source(verdict.provenance().candidate())
        .orElseThrow(
            () -> new UserError(verdict.provenance().source() + ": its source was not kept"));
  }

  private RunInfo chosen(RunStore store) {
    String id = run;
    if (id != null) return store.run(id).orElseThrow(() -> results.folder().unknown(id, store));
    List<RunInfo> runs = store.runs();
    if (runs.isEmpty()) throw new UserError("export: there is no run yet");
    return runs.getFirst();
  }

  /** Checks that the folder is empty or does not exist. */
  private static Path empty(Path folder) {
    ResultsFolder.refuseObstacle(folder.toString(), folder);
    if (!Files.exists(folder)) return folder;
    try (Stream<Path> files = Files.list(folder)) {
      if (files.findAny().isEmpty()) return folder;
    } catch (IOException e) {
      throw new UserError("%s: cannot be read: %s".formatted(folder, Reason.of(e)), e);
    }
    throw new UserError("%s: is not empty; name a new folder".formatted(folder));
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
        throw new UserError("--min-speedup %s: is no speedup, such as 1.2".formatted(least));
      }
      if (policy != null && Policy.of(policy).isEmpty()) {
        throw new UserError("--policy: '%s' is not one of kernel,mixed".formatted(policy));
      }
      return new TrainingFilter(
          grade == null ? null : GradeOption.parse(grade), least, policy, duplicates);
    }

    @Nullable String licence() {
      return licence;
    }

    /** Throws if one of these was given for another format. */
    void refuse(String format) {
      boolean any =
          grade != null || least != null || policy != null || licence != null || duplicates;
      if (!any) return;
      throw new UserError(
          "export %s: --grade, --min-speedup, --policy, --near-duplicates and --licence are for the format training"
              .formatted(format));
    }

    /** {@code not correct 3, speedup 1}; {@code none} if nothing is left out. */
    static String words(Map<String, Integer> leftOut) {
      String words =
          leftOut.entrySet().stream()
              .filter(entry -> entry.getValue() > 0)
              .map(entry -> entry.getKey() + " " + entry.getValue())
              .collect(Collectors.joining(", "));
      return words.isEmpty() ? "none" : words;
    }
  }
}
