package dev.kbx.app;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.SourceFiles;
import dev.kbx.check.Rules;
import dev.kbx.error.InputException;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Grade;
import dev.kbx.plan.L2State;
import dev.kbx.plan.Limits;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.plan.ServingProperty;
import dev.kbx.plan.Tolerance;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.BackwardSuite;
import dev.kbx.task.OwnReference;
import dev.kbx.task.Policy;
import dev.kbx.task.Suites;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Judges kernels from a Java program, as {@code kbx eval} does.
 *
 * <pre>{@code
 * try (Kbx kbx = Kbx.open(Path.of("/opt/kbx"))) {
 *   Judgement judgement = kbx.judge(Path.of("kernel.py"), "Activation/gelu");
 *   System.out.println(judgement.status().label());
 * }
 * }</pre>
 *
 * <p>Processes that judge are started by {@link #open(Path, Options)}, which takes seconds, and end
 * with {@link #close}. Several threads may judge at the same time. An error is a {@link
 * dev.kbx.error.KbxException}, whose message names an option as the command line writes it.
 */
public final class Kbx implements AutoCloseable {
  private final RunPlan asked;
  private final JudgingPool pool;
  private final Observer observer;

  private Kbx(RunPlan asked, JudgingPool pool, Observer observer) {
    this.asked = asked;
    this.pool = pool;
    this.observer = observer;
  }

  /** Opens a checkout or unpacked bundle of kbx, with the defaults of {@code kbx eval}. */
  public static Kbx open(Path home) throws InterruptedException {
    return open(home, new Options());
  }

  /** Opens an installation with options, and starts the processes that judge. */
  public static Kbx open(Path home, Options options) throws InterruptedException {
    Home kbx = Home.of(home);
    RunPlan asked = options.runPlan(kbx);
    JudgingPool pool =
        JudgingPool.start(options.settings(kbx), List.of(asked.suite().suite()), asked.plan());
    try {
      asked.suite().check(pool, asked.plan(), asked.selected(), options.observer);
    } catch (InterruptedException | RuntimeException e) {
      pool.close();
      throw e;
    }
    return new Kbx(asked, pool, options.observer);
  }

  /**
   * Judges a Python file, whatever its name, and stores nothing.
   *
   * @param task its name, or {@code Category/name}; of a reference, any
   * @throws dev.kbx.task.UnknownTask if the suite has no such task
   */
  public Judgement judge(Path file, String task) throws InterruptedException {
    List<Task> found =
        asked.suite().reference() == null ? asked.suite().suite().find(task) : asked.selected();
    if (found.size() != 1) {
      throw new InputException(
          "%s: %d tasks have that name; name one".formatted(task, found.size()));
    }
    RunPlan.check(asked.plan().precision(), found);
    String code =
        SourceFiles.code(
            file,
            problem -> {
              throw new InputException(problem.toString());
            });
    Candidate candidate =
        new Candidate(found.getFirst(), String.valueOf(code), file.toString(), 0, null, null, null);
    return pool.referee().judge(candidate, asked.plan());
  }

  /**
   * Judges files and folders into a new run of a results folder, as {@code kbx eval --out} does:
   * files are named after their tasks.
   *
   * @return the verdicts, in the order of the sources
   */
  public List<Verdict> judge(List<Path> sources, Path results)
      throws IOException, InterruptedException {
    Evaluation.Request request =
        new Evaluation.Request(asked, sources, ResultsFolder.of(results), false, false);
    try (Evaluation evaluation = Evaluation.open(request, observer)) {
      evaluation.begin(pool);
      return List.copyOf(evaluation.verdicts(evaluation.judge()));
    }
  }

  /** Ends the processes that judge. */
  @Override
  public void close() {
    pool.close();
  }

  /**
   * How candidates are judged. Every option has the default of {@code kbx eval}. Each method
   * changes these options and returns them.
   */
  public static final class Options {
    private String suite = Suites.DEFAULT;
    private @Nullable OwnReference reference;
    private String tasks = "*";
    private List<Stage> stages = List.of(Stage.values());
    private List<String> off = List.of();
    private String arch = Plan.ARCH;
    private @Nullable String seed;
    private Duration timeout = Limits.defaults().call();
    private Tolerance tolerance = Tolerance.MODEL;
    private Grade grade = Grade.PUBLISHED;
    private ModulePrecision precision = ModulePrecision.FP32;
    private Optional<Policy> policy = Optional.empty();
    private Baseline baseline = Baseline.EAGER;
    private L2State cache = L2State.COLD;
    private boolean profile;
    private boolean publishedAccounting = true;
    private boolean memoryChecks = true;
    private List<ServingProperty> properties = List.of();
    private Optional<Path> python = Optional.empty();
    private String device = "auto";
    private int jobs;
    private Observer observer = Observer.SILENT;

    /** A suite of kbx's by its name, or a folder of task files. */
    public Options suite(String nameOrFolder) {
      this.suite = nameOrFolder;
      return this;
    }

    /** A reference of the user's own in place of a suite: {@code FILE} or {@code FILE:NAME}. */
    public Options reference(String fileAndName) {
      try (SyntaxCheck syntax = Home.here().syntax()) {
        this.reference = OwnReference.read(fileAndName, syntax);
      }
      return this;
    }

    /** The gradients of the reference, or of the suite's tasks, in place of their results. */
    public Options backward() {
      if (reference == null) {
        this.suite = BackwardSuite.name(suite);
      } else {
        this.reference = reference.gradients();
      }
      return this;
    }

    /** Only these tasks: names, or globs of them, separated by commas. */
    public Options tasks(String selection) {
      this.tasks = selection;
      return this;
    }

    /** The stages to run; {@link Stage#PERF} needs a GPU. */
    public Options stages(List<Stage> wanted) {
      this.stages = List.copyOf(wanted);
      return this;
    }

    /** Ids of static rules to switch off. */
    public Options off(List<String> rules) {
      this.off = rules.stream().map(String::strip).distinct().sorted().toList();
      return this;
    }

    /** One of {@link Plan#ARCHITECTURES}, to compile kernels for without a GPU. */
    public Options arch(String target) {
      this.arch = RunPlan.arch(target);
      return this;
    }

    /** Seed of all inputs, in place of the installation's secret. */
    public Options seed(String text) {
      this.seed = text;
      return this;
    }

    /** Time limit of one call, without compiling and waiting for a processor; whole seconds. */
    public Options timeout(Duration limit) {
      if (limit.toSeconds() < 1) {
        throw new InputException("--timeout %d: at least 1 second".formatted(limit.toSeconds()));
      }
      this.timeout = limit;
      return this;
    }

    /** How results are compared. */
    public Options tolerance(Tolerance kind) {
      this.tolerance = kind;
      return this;
    }

    /** Which calls decide. */
    public Options grade(Grade deciding) {
      this.grade = deciding;
      return this;
    }

    /** What modules are cast to. */
    public Options precision(ModulePrecision cast) {
      this.precision = cast;
      return this;
    }

    /** Who may compute results, in place of each task's own policy. */
    public Options policy(Policy forAll) {
      this.policy = Optional.of(forAll);
      return this;
    }

    /** What speedups are against. */
    public Options baseline(Baseline against) {
      this.baseline = against;
      return this;
    }

    /** State of the GPU's L2 cache before timed calls. */
    public Options cache(L2State state) {
      this.cache = state;
      return this;
    }

    /** Whether candidates that were timed are profiled. */
    public Options profile(boolean wanted) {
      this.profile = wanted;
      return this;
    }

    /** Whether candidates that are refused only because of who computes are called nevertheless. */
    public Options publishedAccounting(boolean wanted) {
      this.publishedAccounting = wanted;
      return this;
    }

    /** Properties that serving needs, which are shown and decide nothing. */
    public Options properties(List<ServingProperty> wanted) {
      this.properties = List.copyOf(wanted);
      return this;
    }

    /** Whether what kernels do to memory decides. */
    public Options memoryChecks(boolean wanted) {
      this.memoryChecks = wanted;
      return this;
    }

    /** Interpreter with torch and triton, in place of the one that kbx finds or installs. */
    public Options python(Path executable) {
      this.python = Optional.of(executable);
      return this;
    }

    /** {@code auto}, {@code cpu}, {@code cuda} or {@code cuda:0,1}. */
    public Options device(String name) {
      this.device = name;
      return this;
    }

    /** Candidates judged at the same time on the CPU or on each GPU. */
    public Options jobs(int atTheSameTime) {
      this.jobs = atTheSameTime;
      return this;
    }

    /** Hears of notes and progress. */
    public Options observer(Observer hearing) {
      this.observer = hearing;
      return this;
    }

    /** The tasks and the plan of a run with these options. */
    public RunPlan runPlan(Home home) {
      ChosenSuite chosen =
          reference == null ? ChosenSuite.of(home, suite) : ChosenSuite.of(home, reference);
      return RunPlan.of(chosen, tasks, plan(home), off);
    }

    private Plan plan(Home home) {
      if (profile && !stages.contains(Stage.PERF)) {
        throw new InputException(
            "--profile: nothing is timed without the perf stage; add it to --stages");
      }
      return new Plan(
              stages,
              Rules.all().without(off),
              arch,
              seed == null ? home.secret() : seed,
              Limits.of(timeout),
              tolerance,
              grade,
              precision,
              policy,
              baseline,
              cache,
              profile,
              publishedAccounting,
              memoryChecks)
          .asking(properties);
    }

    private JudgingSettings settings(Home home) {
      return new JudgingSettings(home, WorkerSource.NEW, python, device, jobs, null, observer);
    }
  }
}
