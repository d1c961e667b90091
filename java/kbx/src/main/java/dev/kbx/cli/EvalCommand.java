package dev.kbx.cli;

import dev.kbx.app.Evaluation;
import dev.kbx.app.Experts;
import dev.kbx.app.Home;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.JudgingSettings;
import dev.kbx.app.Kbx;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.RunPlan;
import dev.kbx.app.RunResults;
import dev.kbx.candidate.Problem;
import dev.kbx.candidate.Reading;
import dev.kbx.error.InputException;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.L2State;
import dev.kbx.plan.ServingProperty;
import dev.kbx.plan.Tolerance;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx eval SOURCE…}: reads candidates, judges them, writes the result files. */
@Command(
    name = "eval",
    description = "Judge candidate kernels.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  kbx eval examples",
      "  kbx eval kernel.py --reference my_ref.py --watch",
      "  kbx eval predictions.jsonl --tasks 'Math/*' --out results",
      "",
      "SOURCE is a Python file named after its task, a KernelBenchX predictions",
      "file (.jsonl), or a folder of both. With --suite kernelbench also a run folder",
      "of KernelBench, or one of its level_1_problem_2_sample_3_kernel.py.",
      "With --reference FILE every source is a candidate for that file's function or",
      "Model, whatever its name: a function of the same name, or ModelNew.",
      "",
      "Under --out: kbx.db, and runs/<run id>/ with results.jsonl, metrics.json,",
      "summary.json, report.html; for kernelbench also eval_results.json, or one file",
      "per level. With several methods or models, each has its own",
      "metrics.METHOD.MODEL.json and summary.METHOD.MODEL.json. The same names",
      "directly under --out link to the newest run.",
      "",
      "Exit codes: 0 judged, whatever the verdicts; 1 wrong usage or unreadable",
      "input; 2 cut off, to be continued with --resume."
    })
final class EvalCommand implements Callable<Integer> {
  @Parameters(paramLabel = "SOURCE", arity = "0..*", description = "Files or folders to judge.")
  private List<Path> sources = List.of();

  @HelpSection.In(HelpSection.RULES)
  @Option(
      names = "--stages",
      paramLabel = "LIST",
      split = ",",
      defaultValue = Options.STAGES,
      description = "Stages to run. Default: ${DEFAULT-VALUE}; perf needs a GPU.")
  private List<String> stages = List.of();

  @HelpSection.In(HelpSection.SPEED)
  @Option(
      names = "--baseline",
      paramLabel = "NAME",
      description =
          "Baseline of the speedup: eager, compile (torch.compile), max-autotune, or best of the"
              + " three. Default: eager. Compiling takes seconds to minutes per task. A file or"
              + " folder holds an expert's kernels, named as sources are: candidates are timed"
              + " beside that of their task, and the share of its speed is reported. May be given"
              + " twice, for a name and a file.")
  private List<String> baseline = List.of();

  @HelpSection.In(HelpSection.RULES)
  @Option(
      names = "--tolerance",
      paramLabel = "KIND",
      defaultValue = "model",
      description =
          "Tolerance of results: model (from the reference's own rounding error on the same"
              + " inputs), or published (the constants of the suite's authors)."
              + " Default: ${DEFAULT-VALUE}.")
  private String tolerance = "model";

  @HelpSection.In(HelpSection.RULES)
  @Option(
      names = "--no-published-accounting",
      description =
          "Do not run candidates that are refused only because they leave the work to PyTorch. By"
              + " default they are called and compared, so that call_ok and exe_ok say of them,"
              + " too, what the published rules would; their status stays.")
  private boolean noPublishedAccounting;

  @HelpSection.In(HelpSection.RULES)
  @Option(
      names = "--memory-checks",
      paramLabel = "on|off",
      defaultValue = "on",
      description =
          "Whether accesses outside of tensors, races of programs and undefined values decide."
              + " Default: ${DEFAULT-VALUE}.")
  private String memoryChecks = "on";

  @HelpSection.In(HelpSection.RULES)
  @Option(
      names = "--properties",
      paramLabel = "LIST",
      split = ",",
      description =
          "Ask correct candidates for what serving needs, and show whether it holds or breaks; it"
              + " decides nothing: batch_invariant, repeatable, large_index; with a GPU also"
              + " graph_safe, stream_safe; or all.")
  private List<String> properties = List.of();

  @HelpSection.In(HelpSection.SPEED)
  @Option(
      names = "--cache",
      paramLabel = "STATE",
      defaultValue = "cold",
      description =
          "State of the GPU's L2 cache before timed calls: cold (flushed), or warm (holds their"
              + " arguments, as far as they fit). Default: ${DEFAULT-VALUE}.")
  private String cache = "cold";

  @HelpSection.In(HelpSection.SPEED)
  @Option(
      names = "--profile",
      description =
          "Add Nsight Compute's figures to each candidate that was timed, at its largest size:"
              + " occupancy, throughputs, registers, stalls. Needs ncu and its counters; takes up"
              + " to a minute per candidate.")
  private boolean profile;

  @HelpSection.In(HelpSection.RESULTS)
  @Option(
      names = "--resume",
      description =
          "Continue the newest unfinished run of these sources in --out; the other options must be"
              + " those that it was begun with. If all are complete, show the newest again.")
  private boolean resume;

  @HelpSection.In(HelpSection.RESULTS)
  @Option(
      names = "--watch",
      description =
          "Then judge again whenever a source or the --reference changes, with the same workers,"
              + " and say what changed, until Ctrl-C. Sources must be files. Each round is a run in"
              + " --out.")
  private boolean watch;

  @HelpSection.In(HelpSection.PLACE)
  @Option(
      names = DaemonTerms.OPTION,
      description =
          "Judge in a process of its own. By default, without a GPU, a background process judges,"
              + " which stays for ten minutes, so that the next kbx eval has warm workers. The"
              + " environment variable KBX_NO_DAEMON does the same.")
  @SuppressWarnings("unused") // Main has read it.
  private boolean noDaemon;

  @HelpSection.In(HelpSection.RESULTS)
  @Option(
      names = "--strict",
      description = "Judge nothing if a source, or a line of one, cannot be used.")
  private boolean strict;

  @Mixin private Options.JsonFlag json = new Options.JsonFlag();

  @Mixin private Options.Judging judging = new Options.Judging();
  @Mixin private Options.Label label = new Options.Label();
  @Mixin private Options.Results results = new Options.Results();
  @Mixin private Options.Workers workers = new Options.Workers();
  @Mixin private Options.Cluster cluster = new Options.Cluster();

  @Override
  public Integer call() throws Exception {
    Kbx.Options options = options();
    if (!resume) Evaluation.refuseAbsent(sources);
    if (watch) checkWatch();
    JudgingSettings settings = workers.settings(cluster);
    workers.check(Options.stages(stages));
    ResultsFolder folder = results.folder();
    folder.store().check();
    RunPlan named = named(options);
    Experts experts = Experts.read(experts(), named);
    RunPlan asked = beside(experts, named);
    Evaluation.Request request = new Evaluation.Request(asked, sources, folder, strict, resume);
    try (Evaluation evaluation = Evaluation.open(request, settings.observer());
        Interrupts interrupts = new Interrupts("interrupted; nothing was judged yet");
        JudgingPool pool =
            JudgingPool.start(settings, List.of(asked.suite().suite()), asked.plan())) {
      experts.check(pool.referee(), named.plan());
      evaluation.begin(pool);
      interrupts.advise(Interrupts.RESUMABLE);
      experts.untimed(pool.device()).ifPresent(Terminal::say);
      if (profile && !pool.device().onGpu()) {
        Terminal.say("--profile: no GPU is used, so nothing is profiled");
      }
      RunResults judged = evaluation.judge();
      Reading reading = evaluation.reading();
      List<String> problems = Evaluation.problems(reading);
      new EvalOutput(System.out, json.isAsked()).print(judged, problems, folder.out());
      Problems.recall(problems, folder.out().resolve(judged.summaries().getFirst()));
      if (watch) {
        interrupts.expect("stopped");
        Watch.Asked again = before -> asked(before, pool, settings);
        new Watch(sources, evaluation, again).run(evaluation.verdicts(judged));
      }
      return reading.problems(Problem.Kind.UNREADABLE).isEmpty() ? ExitCode.OK : ExitCode.USAGE;
    }
  }

  private static RunPlan beside(Experts experts, RunPlan plan) {
    return plan.beside(experts.sources(plan.suite().suite()));
  }

  private RunPlan named(Kbx.Options options) {
    return options.runPlan(Home.here()).labelled(label.label());
  }

  /** The plan with the reference as it now is; empty if that is as it was. */
  private Optional<RunPlan> asked(RunPlan before, JudgingPool pool, JudgingSettings settings)
      throws InterruptedException {
    RunPlan now = named(options());
    if (now.suite().label().equals(before.suite().label())) return Optional.empty();
    if (settings.cluster() != null) {
      throw new InputException(
          "--reference: has changed, and the cluster has it as it was; give the command again");
    }
    Experts experts = Experts.read(experts(), now);
    experts.check(pool.referee(), now.plan());
    return Optional.of(beside(experts, now));
  }

  private void checkWatch() {
    if (json.isAsked()) throw new InputException("--watch and --json: give one of them");
    if (resume) throw new InputException("--watch and --resume: give one of them");
    for (Path source : sources) {
      if (Files.isDirectory(source)) {
        throw new InputException(source + ": is a folder; --watch needs files");
      }
    }
  }

  private Kbx.Options options() {
    return judging
        .options()
        .stages(Options.stages(stages))
        .tolerance(
            Tolerance.of(tolerance)
                .orElseThrow(() ->
                    new InputException(
                        "--tolerance: '%s' is not one of model,published".formatted(tolerance))))
        .baseline(baseline())
        .cache(
            L2State.of(cache)
                .orElseThrow(() ->
                    new InputException("--cache: '%s' is not one of cold,warm".formatted(cache))))
        .profile(profile)
        .publishedAccounting(!noPublishedAccounting)
        .properties(properties())
        .memoryChecks(isOn());
  }

  private Baseline baseline() {
    List<Baseline> named = baseline.stream().flatMap(name -> Baseline.of(name).stream()).toList();
    if (named.size() > 1) throw new InputException("--baseline: give one name, and one file");
    return named.isEmpty() ? Baseline.EAGER : named.getFirst();
  }

  /** The kernels to time beside candidates, of files that are named as baselines. */
  private List<Path> experts() {
    List<Path> files =
        baseline.stream().filter(name -> Baseline.of(name).isEmpty()).map(Path::of).toList();
    for (Path file : files) {
      if (!Files.exists(file)) {
        throw new InputException(
            "--baseline: '%s' is not one of eager,compile,max-autotune,best, and no file"
                .formatted(file));
      }
    }
    return files;
  }

  private List<ServingProperty> properties() {
    if (properties.equals(List.of("all"))) return List.of(ServingProperty.values());
    return properties.stream().map(EvalCommand::property).toList();
  }

  private static ServingProperty property(String name) {
    return ServingProperty.of(name.strip())
        .orElseThrow(() ->
            new InputException(
                "--properties: '%s' is not one of %s, and not 'all' alone"
                    .formatted(name, String.join(",", ServingProperty.labels()))));
  }

  private boolean isOn() {
    return switch (memoryChecks) {
      case "on" -> true;
      case "off" -> false;
      default ->
          throw new InputException(
              "--memory-checks: '%s' is not one of on,off".formatted(memoryChecks));
    };
  }
}
