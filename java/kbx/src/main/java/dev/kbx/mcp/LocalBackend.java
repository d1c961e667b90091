package dev.kbx.mcp;

import static java.util.Objects.requireNonNull;

import dev.kbx.app.Experts;
import dev.kbx.app.Home;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.JudgingSettings;
import dev.kbx.app.Kbx;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.RunPlan;
import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.Extraction;
import dev.kbx.error.InputException;
import dev.kbx.judge.JudgingDevice;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.Prompts;
import dev.kbx.prompt.Statement;
import dev.kbx.python.PythonEnvironment;
import dev.kbx.run.RememberingReferee;
import dev.kbx.store.RunStore;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.RunLabel;
import dev.kbx.verdict.Verdict;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The tools on the user's own machine: judges with its workers, which start with the first kernel,
 * into runs of a results folder.
 */
public final class LocalBackend implements ToolBackend, AutoCloseable {
  private static final String NAME = "mcp";

  private final Home home = Home.here();

  /** Read meanwhile: a client waits for the first answer, which needs none. */
  private final Future<List<Suite>> suites;

  private final Statement statement;
  private final Conditions conditions;
  private final AtomicInteger left;
  private final Map<String, OpenRun> runs = new HashMap<>();
  private @Nullable RunStore store;
  private @Nullable JudgingPool pool;

  /** Null until they are known to be correct. */
  private @Nullable Experts experts;

  /**
   * How and into what kernels are judged.
   *
   * @param experts files and folders of kernels that the agent's are timed beside
   * @param seed of all inputs; empty for this installation's secret
   * @param budget judgements
   */
  public record Conditions(
      List<String> suites,
      List<Path> experts,
      ResultsFolder results,
      JudgingSettings settings,
      Optional<String> seed,
      int budget) {
    public Conditions {
      suites = List.copyOf(suites);
      experts = List.copyOf(experts);
    }
  }

  public LocalBackend(Conditions conditions) {
    this.conditions = conditions;
    FutureTask<List<Suite>> reading =
        new FutureTask<>(() -> conditions.suites().stream().map(home::suite).toList());
    Thread.ofVirtual().name("suites").start(reading);
    this.suites = reading;
    this.statement = new Statement(Prompts.bundled(home.folder()));
    this.left = new AtomicInteger(conditions.budget());
  }

  /** The user may do everything. */
  @Override
  public void need(Scope scope) {}

  @Override
  public List<Suite> suites() throws InterruptedException {
    try {
      return suites.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) throw cause;
      throw new IllegalStateException(e.getCause());
    }
  }

  @Override
  public Statement statement() {
    return statement;
  }

  @Override
  public SyntaxCheck syntax() {
    return home.syntax();
  }

  @Override
  public List<JudgingDevice> devices() throws InterruptedException {
    JudgingPool judging = pool();
    List<JudgingDevice> devices = judging.referee().devices();
    return devices.isEmpty()
        ? List.of(new JudgingDevice(judging.device(), JudgingDevice.State.READY))
        : devices;
  }

  @Override
  public synchronized RunStore store() {
    if (store == null) {
      store =
          conditions
              .results()
              .existing()
              .orElseThrow(() ->
                  new InputException(
                      "there is no verdict in %s yet: judge first"
                          .formatted(conditions.results().place())));
    }
    return store;
  }

  /** The store, which is made if there is none. */
  private synchronized RunStore writable() {
    if (store == null) {
      conditions.results().store().check();
      Path _ = conditions.results().writable();
      store = RunStore.open(conditions.results().store());
    }
    return store;
  }

  private synchronized JudgingPool pool() throws InterruptedException {
    if (pool == null) pool = JudgingPool.start(conditions.settings(), suites());
    return pool;
  }

  /**
   * The kernels of experts, each of which is judged first.
   *
   * @throws InputException if one cannot be used or is not correct
   */
  private synchronized Experts experts() throws InterruptedException {
    if (experts != null) return experts;
    Experts read = Experts.read(conditions.experts(), suites());
    if (!read.isEmpty()) {
      Plan plan = options().suite(conditions.suites().getFirst()).runPlan(home).plan();
      read.check(referee(), plan);
      read.untimed(pool().device()).ifPresent(conditions.settings().observer()::note);
    }
    experts = read;
    return read;
  }

  private RememberingReferee referee() throws InterruptedException {
    return new RememberingReferee(pool().referee(), writable());
  }

  @Override
  public Optional<Path> python() {
    return PythonEnvironment.present(
        conditions.settings().python(), System.getenv(), home.folder());
  }

  @Override
  public Judged judge(Kernel kernel) throws InterruptedException {
    if (left.getAndUpdate(count -> Math.max(0, count - 1)) == 0) {
      throw new InputException(
          "the budget of %d judgements is spent; only a restart with a larger --budget gives more"
              .formatted(conditions.budget()));
    }
    boolean judged = false;
    try {
      OpenRun run = run(kernel);
      Task task = kernel.task() == null ? run.plan().selected().getFirst() : kernel.task();
      Judged found = judge(run, task, Extraction.source(kernel.source(), task).code());
      judged = true;
      return found;
    } finally {
      if (!judged) left.incrementAndGet();
    }
  }

  /** A task's suite as the user has named it. */
  private String suite(Task task) throws InterruptedException {
    for (int i = 0; i < suites().size(); i++) {
      if (suites().get(i).tasks().contains(task)) return conditions.suites().get(i);
    }
    throw new IllegalArgumentException(task.path());
  }

  /**
   * A run of this process.
   *
   * @param samples candidates that were taken
   * @param end where the next verdict goes
   */
  private record OpenRun(RunPlan plan, RunInfo run, AtomicInteger samples, AtomicInteger end) {}

  /** The run for that kernel. */
  private synchronized OpenRun run(Kernel kernel) throws InterruptedException {
    Kbx.Options options = options().grade(kernel.grade());
    if (kernel.task() == null) {
      // Read each time: it may have changed, and then its label has, too.
      RunPlan plan = options.reference(requireNonNull(kernel.reference())).runPlan(home);
      return run(plan.suite().label() + kernel.grade(), () -> plan);
    }
    String suite = suite(kernel.task());
    Experts beside = experts();
    return run(
        suite + kernel.grade(),
        () -> {
          RunPlan plan = options.suite(suite).runPlan(home);
          return plan.beside(beside.sources(plan.suite().suite()));
        });
  }

  private Kbx.Options options() {
    Kbx.Options options = new Kbx.Options();
    conditions.seed().ifPresent(options::seed);
    return options;
  }

  /** The run of that name, which is begun if there is none, or somebody has deleted it. */
  private OpenRun run(String name, Supplier<RunPlan> plan) throws InterruptedException {
    OpenRun known = runs.get(name);
    if (known != null && writable().has(known.run().id())) return known;
    OpenRun begun = begin(plan.get().labelled(new RunLabel(NAME, null)));
    runs.put(name, begun);
    return begun;
  }

  private OpenRun begin(RunPlan plan) throws InterruptedException {
    plan.suite().check(pool(), plan.plan(), plan.selected(), conditions.settings().observer());
    String id = ResultsFolder.nextRun();
    RunInfo run = plan.run(id, List.of(NAME), pool().device(), pool().versions(), 0, List.of());
    writable().begin(run);
    return new OpenRun(plan, run, new AtomicInteger(), new AtomicInteger());
  }

  private Judged judge(OpenRun run, Task task, String code) throws InterruptedException {
    Candidate candidate =
        new Candidate(task, code, NAME, run.samples().getAndIncrement(), null, null, null);
    Referee.Found found = referee().find(candidate, run.plan().plan());
    Verdict verdict = found.judgement().on(candidate.provenance(run.run().id()));
    int position = run.end().getAndIncrement();
    var _ = writable().add(position, verdict, code);
    return new Judged(run.run().id() + "/" + position, task, code, verdict, left.get());
  }

  @Override
  public synchronized void close() {
    if (pool != null) pool.close();
    if (store != null) store.close();
  }
}
