package dev.kbx.cli;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Problem;
import dev.kbx.candidate.Reading;
import dev.kbx.candidate.SourceFiles;
import dev.kbx.document.Counted;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.L2State;
import dev.kbx.plan.Limits;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Tolerance;
import dev.kbx.python.PythonProblem;
import dev.kbx.report.EvalResultFiles;
import dev.kbx.report.LatestRun;
import dev.kbx.report.ResultFiles;
import dev.kbx.store.RunStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
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
      "SOURCE is a Python file named after its task, a KernelBenchX predictions",
      "file (.jsonl), or a folder of both. With --suite kernelbench also a run folder",
      "of KernelBench, or one of its level_1_problem_2_sample_3_kernel.py.",
      "With --reference FILE every source is a candidate for that file's function or",
      "Model, whatever its name: a function of the same name, or ModelNew.",
      "Under --out: kbx.db, and runs/<run id>/ with results.jsonl, metrics.json,",
      "summary.json, report.html; for kernelbench also eval_results.json, or one file",
      "per level. With several methods or models, each has its own",
      "metrics.METHOD.MODEL.json and summary.METHOD.MODEL.json. The same names",
      "directly under --out link to the newest run.",
      "Exit codes: 0 judged, whatever the verdicts; 1 wrong usage or unreadable",
      "input; 2 cut off, to be continued with --resume."
    })
final class EvalCommand implements Callable<Integer> {
  @Parameters(paramLabel = "SOURCE", arity = "0..*", description = "Files or folders to judge.")
  private List<Path> sources = List.of();

  @Option(
      names = "--tasks",
      paramLabel = "GLOB",
      defaultValue = "*",
      description =
          "Only these tasks: names or Category/name, with * and ?, or level/number, separated by"
              + " commas.")
  private String tasks = "*";

  @Option(
      names = "--stages",
      paramLabel = "LIST",
      split = ",",
      defaultValue = Stages.ALL,
      description = "Stages to run. Default: ${DEFAULT-VALUE}; perf needs a GPU.")
  private List<String> stages = List.of();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      defaultValue = "kbx-out",
      description = "Results folder. Default: ${DEFAULT-VALUE}.")
  private Path out = Path.of("kbx-out");

  @Option(
      names = "--baseline",
      paramLabel = "NAME",
      defaultValue = "eager",
      description =
          "Baseline of the speedup: eager, compile (torch.compile), max-autotune, or best of the"
              + " three. Default: ${DEFAULT-VALUE}. Compiling takes seconds to minutes per task.")
  private String baseline = "eager";

  @Option(
      names = "--tolerance",
      paramLabel = "KIND",
      defaultValue = "model",
      description =
          "Tolerance of results: model (from the reference's own rounding error on the same"
              + " inputs), or published (the constants of the suite's authors)."
              + " Default: ${DEFAULT-VALUE}.")
  private String tolerance = "model";

  @Option(
      names = "--no-published-accounting",
      description =
          "Do not run candidates that are refused only because they leave the work to PyTorch."
              + " By default they are called and compared, so that call_ok and exe_ok say what the"
              + " published rules would; their status stays.")
  private boolean noPublishedAccounting;

  @Option(
      names = "--cache",
      paramLabel = "STATE",
      defaultValue = "cold",
      description =
          "State of the GPU's L2 cache before timed calls: cold (flushed), or warm (holds their"
              + " arguments, as far as they fit). Default: ${DEFAULT-VALUE}.")
  private String cache = "cold";

  @Option(
      names = "--profile",
      description =
          "Add Nsight Compute's figures to each candidate that was timed, at its largest size:"
              + " occupancy, throughputs, registers, stalls. Needs ncu and its counters; takes up"
              + " to a minute per candidate.")
  private boolean profile;

  @Option(
      names = "--resume",
      description =
          "Continue the newest unfinished run of these sources in --out; the other options must be"
              + " those that it was begun with. If all are complete, show the newest again.")
  private boolean resume;

  @Option(
      names = "--watch",
      description =
          "Then judge again whenever a source changes, with the same workers, and say what changed,"
              + " until Ctrl-C. Sources must be files. Each round is a run in --out.")
  private boolean watch;

  @Option(
      names = "--strict",
      description = "Judge nothing if a source, or a line of one, cannot be used.")
  private boolean strict;

  @Option(names = "--json", description = "Print one JSON document on stdout, nothing else.")
  private boolean json;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "20",
      description =
          "Time limit for one call of a candidate's entry point, without compiling and waiting for"
              + " a processor. Default: ${DEFAULT-VALUE}.")
  private int timeout;

  @Option(
      names = "--arch",
      paramLabel = "ARCH",
      defaultValue = "sm_90",
      description =
          "Architecture to compile kernels for without a GPU: sm_80, sm_86, sm_89, sm_90,"
              + " sm_100. Default: ${DEFAULT-VALUE}.")
  private String arch = "sm_90";

  @Mixin private GradeOption grade = new GradeOption();
  @Mixin private PrecisionOption precision = new PrecisionOption();
  @Mixin private PolicyOption policy = new PolicyOption();
  @Mixin private AskedTask asked = new AskedTask();
  @Mixin private StoreOption stores = new StoreOption();
  @Mixin private SeedOption seed = new SeedOption();
  @Mixin private RulesOption rules = new RulesOption();
  @Mixin private WorkerOptions workers = new WorkerOptions();
  @Mixin private ClusterOptions cluster = new ClusterOptions();

  @Override
  public Integer call() throws Exception {
    Plan plan = plan();
    if (!resume) refuseAbsent();
    if (watch) checkWatch();
    workers.check(plan.stages());
    StoreAddress address = stores.address(out);
    address.check();
    Suite taskSuite = asked.open();
    List<Task> selected = taskSuite.find(tasks);
    precision.check(selected);
    boolean begun = resume && address.exists();
    if (resume && !begun && sources.isEmpty()) {
      throw new UserError(
          "--resume: no run in %s to resume; name its --out folder, or what to judge"
              .formatted(address));
    }
    // Wrong sources are refused before anything is created.
    Reading first = begun ? null : read(sources, taskSuite, selected);
    Path folder = OutFolder.writable(out);
    new EvalResultFiles(folder)
        .inTheWay(taskSuite.name())
        .ifPresent(file -> {
          throw new UserError(
              file + ": was not written by kbx and would be replaced; give another --out");
        });
    try (var _ = FolderLock.of(folder);
        RunStore store = RunStore.open(address)) {
      ResumedRun earlier = resume ? resumed(store) : null;
      if (earlier != null) earlier.checkPlan(asked.label(), tasks, plan, selected, rules.off());
      List<Path> given = earlier != null && sources.isEmpty() ? paths(earlier.run()) : sources;
      Reading reading = first != null ? first : read(given, taskSuite, selected);
      if (earlier != null) earlier.checkCandidates(reading.candidates(), plan, store);
      if (resume) System.err.println("kbx: " + resuming(earlier, store, folder));
      return judge(store, folder, plan, reading, taskSuite, selected, earlier);
    }
  }

  /** The run to go on with, which no other process judges from now on; null if there is none. */
  private @Nullable ResumedRun resumed(RunStore store) {
    ResumedRun found = ResumedRun.find(store, sources).orElse(null);
    if (found == null) return null;
    store.claim(found.run().id());
    // Whoever had it may have finished it, or deleted it.
    return store
        .run(found.run().id())
        .map(ResumedRun::new)
        .orElseThrow(() ->
            new UserError("run %s was just deleted; begin again".formatted(found.run().id())));
  }

  /** A path mistyped is the commonest mistake: told at once, without reading a suite. */
  private void refuseAbsent() {
    List<Problem> absent = new ArrayList<>();
    sources.stream()
        .filter(source -> !Files.exists(source))
        .forEach(source -> SourceFiles.in(source, absent::add));
    if (absent.size() == 1) throw new UserError(absent.getFirst().toString());
  }

  private void checkWatch() {
    if (json) throw new UserError("--watch and --json: give one of them");
    if (resume) throw new UserError("--watch and --resume: give one of them");
    for (Path source : sources) {
      if (Files.isDirectory(source)) {
        throw new UserError(source + ": is a folder; --watch needs files");
      }
    }
  }

  private Plan plan() {
    if (timeout < 1) throw new UserError("--timeout %d: at least 1 second".formatted(timeout));
    List<Stage> wanted = Stages.of(stages);
    if (profile && !wanted.contains(Stage.PERF)) {
      throw new UserError("--profile: nothing is timed without the perf stage; add it to --stages");
    }
    return new Plan(
        wanted,
        rules.rules(),
        Architectures.check(arch),
        seed.seed(),
        Limits.of(Duration.ofSeconds(timeout)),
        Tolerance.of(tolerance)
            .orElseThrow(() ->
                new UserError(
                    "--tolerance: '%s' is not one of model,published".formatted(tolerance))),
        grade.grade(),
        precision.precision(),
        policy.policy(),
        Baseline.of(baseline)
            .orElseThrow(() ->
                new UserError(
                    "--baseline: '%s' is not one of eager,compile,max-autotune,best"
                        .formatted(baseline))),
        L2State.of(cache)
            .orElseThrow(
                () -> new UserError("--cache: '%s' is not one of cold,warm".formatted(cache))),
        profile,
        !noPublishedAccounting);
  }

  private static String resuming(@Nullable ResumedRun earlier, RunStore store, Path folder) {
    return earlier == null
        ? "no run of these sources in " + folder + " to resume: a new one begins"
        : earlier.described(store.count(earlier.run().id()));
  }

  private Reading read(List<Path> given, Suite taskSuite, List<Task> selected) {
    if (given.isEmpty()) {
      throw new UserError("name at least one SOURCE: a .py file, a .jsonl file or a folder");
    }
    Reading reading = CandidateSources.read(given, taskSuite, selected);
    List<Problem> absent = reading.problems(Problem.Kind.ABSENT);
    boolean nothing = reading.candidates().isEmpty() && reading.unselected() == 0;
    if (absent.size() == 1 || (nothing && reading.problems().size() == 1)) {
      throw new UserError((absent.isEmpty() ? reading.problems() : absent).getFirst().toString());
    }
    Problems.print(problems(reading));
    if (!absent.isEmpty()) {
      throw new UserError(
          "nothing was judged: %d of the sources do not exist".formatted(absent.size()));
    }
    if (reading.candidates().isEmpty()) throw nothing(reading, given);
    if (strict && !reading.problems().isEmpty()) {
      throw new UserError(
          "--strict: nothing was judged: %s, named above"
              .formatted(Counted.of(reading.problems().size(), "problem")));
    }
    return reading;
  }

  private UserError nothing(Reading reading, List<Path> given) {
    return new UserError(
        reading.unselected() == 0
            ? "nothing to judge in " + names(given)
            : "--tasks %s: leaves out all that is in %s, %s; select their tasks"
                .formatted(tasks, names(given), Counted.of(reading.unselected(), "candidate")));
  }

  private int judge(
      RunStore store,
      Path folder,
      Plan plan,
      Reading reading,
      Suite taskSuite,
      List<Task> selected,
      @Nullable ResumedRun earlier)
      throws InterruptedException, PythonProblem {
    List<Candidate> candidates = reading.candidates();
    try (Interrupts interrupts = new Interrupts("interrupted; nothing was judged yet");
        JudgingPool pool = JudgingPool.start(workers, cluster, List.of(taskSuite), plan)) {
      if (earlier != null) earlier.checkDevice(pool);
      asked.check(pool, plan, selected);
      RunInfo run =
          earlier != null ? earlier.run() : begin(store, plan, pool, candidates, selected);
      FolderLock.judges(folder, run.id());
      interrupts.advise(Interrupts.RESUMABLE);
      if (profile && !pool.device().kind().equals("cuda")) {
        System.err.println("kbx: --profile: no GPU is used, so nothing is profiled");
      }
      RunResults results = results(store, folder, plan, reading, selected, pool, run);
      List<String> problems = problems(reading);
      results.print(json, problems, folder);
      Problems.recall(problems, folder.resolve(results.summaries().getFirst()));
      if (watch) {
        interrupts.expect("stopped");
        Watch.Round round =
            next -> {
              RunInfo another = begin(store, plan, pool, next.candidates(), selected);
              FolderLock.judges(folder, another.id());
              var _ = results(store, folder, plan, next, selected, pool, another);
              return store.verdicts(another.id()).values();
            };
        new Watch(sources, () -> read(sources, taskSuite, selected), round)
            .run(store.verdicts(run.id()).values());
      }
      return reading.problems(Problem.Kind.UNREADABLE).isEmpty() ? ExitCode.OK : ExitCode.USAGE;
    }
  }

  /** Judges what a run has no verdict on yet, and writes its files. */
  private static RunResults results(
      RunStore store,
      Path folder,
      Plan plan,
      Reading reading,
      List<Task> selected,
      JudgingPool pool,
      RunInfo run)
      throws InterruptedException {
    LatestRun latest = new LatestRun(folder, run.id());
    try (ResultFiles files = new ResultFiles(latest.folder())) {
      files.rewrite(line -> store.forEach(run.id(), stored -> line.accept(stored.json())));
      latest.link();
      pool.judge(store, plan, run, reading.candidates(), stored -> files.append(stored.json()));
      RunResults results = RunResults.finish(store, run, files, selected, problems(reading));
      latest.link();
      return results;
    }
  }

  private RunInfo begin(
      RunStore store,
      Plan plan,
      JudgingPool pool,
      List<Candidate> candidates,
      List<Task> selected) {
    RunInfo run =
        NewRun.of(
            RunIds.next(),
            sources.stream().map(Path::toString).toList(),
            asked.label(),
            tasks,
            plan,
            rules.off(),
            pool,
            selected,
            candidates.size(),
            candidates);
    store.begin(run);
    return run;
  }

  private static List<String> problems(Reading reading) {
    return reading.problems().stream().map(Problem::toString).toList();
  }

  private static List<Path> paths(RunInfo run) {
    return run.sources().stream().map(Path::of).toList();
  }

  private static String names(List<Path> given) {
    return String.join(", ", given.stream().map(Path::toString).toList());
  }
}
