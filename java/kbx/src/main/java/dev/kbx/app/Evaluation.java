package dev.kbx.app;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Problem;
import dev.kbx.candidate.Reading;
import dev.kbx.candidate.SourceFiles;
import dev.kbx.document.Counted;
import dev.kbx.error.InputException;
import dev.kbx.plan.Plan;
import dev.kbx.report.EvalResultFiles;
import dev.kbx.report.LatestRun;
import dev.kbx.report.ResultFiles;
import dev.kbx.run.RunService;
import dev.kbx.store.RunStore;
import dev.kbx.task.OwnReference;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Judges the candidates of files and folders into a run of a results folder: a new one, or an
 * unfinished one that goes on. {@link #open}, then {@link #begin}, then {@link #judge}.
 *
 * <p>While it is open it holds the folder's lock and its store. One thread uses it.
 */
public final class Evaluation implements AutoCloseable {
  private final Request request;
  private final Observer observer;
  private final RunStore store;
  private final FolderLock lock;
  private final @Nullable ResumedRun earlier;
  private final Reading reading;
  private @Nullable Begun begun;

  /**
   * What is judged, and where the verdicts go.
   *
   * @param sources files and folders; may be empty if a run is resumed, whose sources they then are
   * @param strict whether nothing is judged if a source, or a line of one, cannot be used
   * @param resume whether to go on with the newest unfinished run of these sources
   */
  public record Request(
      RunPlan asked, List<Path> sources, ResultsFolder results, boolean strict, boolean resume) {
    public Request {
      sources = List.copyOf(sources);
    }
  }

  /** A run in progress, who judges it, and what is judged. */
  private record Begun(RunInfo run, JudgingPool pool, Reading reading) {}

  private Evaluation(
      Request request,
      Observer observer,
      RunStore store,
      FolderLock lock,
      @Nullable ResumedRun earlier,
      Reading reading) {
    this.request = request;
    this.observer = observer;
    this.store = store;
    this.lock = lock;
    this.earlier = earlier;
    this.reading = reading;
  }

  /**
   * Reads the sources and opens the results folder.
   *
   * @throws InputException if there is nothing to judge, or the folder cannot be written, or the
   *     run to resume was begun with other settings; nothing has been created for wrong sources
   */
  public static Evaluation open(Request request, Observer observer) throws IOException {
    boolean goesOn = request.resume() && request.results().store().exists();
    if (request.resume() && !goesOn && request.sources().isEmpty()) {
      throw new InputException(
          "--resume: no run in %s to resume; name its --out folder, or what to judge"
              .formatted(request.results().store()));
    }
    Reading first = goesOn ? null : read(request, request.sources(), observer);
    Path folder = request.results().writable();
    new EvalResultFiles(folder)
        .inTheWay(request.asked().suite().suite().name())
        .ifPresent(file -> {
          throw new InputException(
              file + ": was not written by kbx and would be replaced; give another --out");
        });
    FolderLock lock = FolderLock.of(folder);
    RunStore store = null;
    try {
      store = RunStore.open(request.results().store());
      ResumedRun earlier = request.resume() ? resumed(store, request) : null;
      if (earlier != null) earlier.checkPlan(request.asked());
      List<Path> given =
          earlier != null && request.sources().isEmpty()
              ? earlier.run().sources().stream().map(Path::of).toList()
              : request.sources();
      Reading reading = first != null ? first : read(request, given, observer);
      if (earlier != null) {
        earlier.checkCandidates(reading.candidates(), request.asked().plan(), store);
      }
      if (request.resume()) {
        observer.note(
            earlier == null
                ? "no run of these sources in " + folder + " to resume: a new one begins"
                : earlier.described(store.count(earlier.run().id())));
      }
      return new Evaluation(request, observer, store, lock, earlier, reading);
    } catch (RuntimeException | Error e) {
      if (store != null) store.close();
      lock.close();
      throw e;
    }
  }

  /** The run to go on with, which no other process judges from now on; null if there is none. */
  private static @Nullable ResumedRun resumed(RunStore store, Request request) {
    ResumedRun found = ResumedRun.find(store, request.sources()).orElse(null);
    if (found == null) return null;
    store.claim(found.run().id());
    // Whoever had it may have finished it, or deleted it.
    return store
        .run(found.run().id())
        .map(ResumedRun::new)
        .orElseThrow(() ->
            new InputException("run %s was just deleted; begin again".formatted(found.run().id())));
  }

  /** Throws for a path that does not exist, the commonest mistake, without reading a suite. */
  public static void refuseAbsent(List<Path> sources) {
    List<Problem> absent = new ArrayList<>();
    sources.stream()
        .filter(source -> !Files.exists(source))
        .forEach(source -> SourceFiles.in(source, absent::add));
    if (absent.size() == 1) throw new InputException(absent.getFirst().toString());
  }

  private static Reading read(Request request, List<Path> given, Observer observer) {
    RunPlan asked = request.asked();
    if (given.isEmpty()) {
      throw new InputException("name at least one SOURCE: a .py file, a .jsonl file or a folder");
    }
    Reading reading = CandidateSources.read(given, asked.suite().suite(), asked.selected());
    List<Problem> absent = reading.problems(Problem.Kind.ABSENT);
    boolean nothing = reading.candidates().isEmpty() && reading.unselected() == 0;
    if (absent.size() == 1 || (nothing && reading.problems().size() == 1)) {
      throw new InputException(
          (absent.isEmpty() ? reading.problems() : absent).getFirst().toString());
    }
    observer.problems(problems(reading));
    if (!absent.isEmpty()) {
      throw new InputException(
          "nothing was judged: %d of the sources do not exist".formatted(absent.size()));
    }
    if (reading.candidates().isEmpty()) {
      String names = String.join(", ", given.stream().map(Path::toString).toList());
      throw new InputException(
          reading.unselected() == 0
              ? "nothing to judge in " + names
              : "--tasks %s: leaves out all that is in %s, %s; select their tasks"
                  .formatted(asked.tasks(), names, Counted.of(reading.unselected(), "candidate")));
    }
    if (request.strict() && !reading.problems().isEmpty()) {
      throw new InputException(
          "--strict: nothing was judged: %s, named above"
              .formatted(Counted.of(reading.problems().size(), "problem")));
    }
    return reading;
  }

  /** Reads the sources again. Throws as {@link #open} does. */
  public Reading reread() {
    return read(request, request.sources(), observer);
  }

  /**
   * This evaluation by another plan, once it was begun: of a reference that has changed since. It
   * has the same sources, results folder and pool, is as long open, and judges other contents by
   * {@link #judge(Reading)}.
   *
   * @throws InputException if the reference cannot be used
   */
  public Evaluation by(RunPlan asked) throws InterruptedException {
    if (begun == null) throw new IllegalStateException("no run was begun before");
    asked.suite().check(begun.pool(), asked.plan(), asked.selected(), observer);
    Request other =
        new Request(asked, request.sources(), request.results(), request.strict(), false);
    Evaluation made = new Evaluation(other, observer, store, lock, null, reading);
    made.begun = begun;
    return made;
  }

  /** The tasks, and the plan by which candidates are judged. */
  public RunPlan asked() {
    return request.asked();
  }

  /** What was read of the sources. */
  public Reading reading() {
    return reading;
  }

  /** What is wrong with the sources, a line each. */
  public static List<String> problems(Reading reading) {
    return reading.problems().stream().map(Problem::toString).toList();
  }

  /**
   * Begins the run, or goes on with the earlier one.
   *
   * @param pool judges; outlives the evaluation's use
   * @throws InputException if an earlier session judged on another device or by other software, or
   *     the reference of the user's own cannot be used
   */
  public void begin(JudgingPool pool) throws InterruptedException {
    begin(pool, reading);
  }

  /** The same of some of the candidates that were read, as a new run. */
  void begin(JudgingPool pool, Reading some) throws InterruptedException {
    RunPlan asked = request.asked();
    if (earlier != null) earlier.checkDevice(pool);
    asked.suite().check(pool, asked.plan(), asked.selected(), observer);
    RunInfo run = earlier != null ? earlier.run() : begun(pool, some.candidates());
    begun = new Begun(run, pool, some);
    FolderLock.judges(request.results().out(), begun.run().id());
  }

  private RunInfo begun(JudgingPool pool, List<Candidate> candidates) {
    List<String> sources = request.sources().stream().map(Path::toString).toList();
    return request
        .asked()
        .begin(store, ResultsFolder.nextRun(), sources, pool, candidates.size(), candidates);
  }

  /** Judges what the run has no verdict on yet, and writes its files. */
  public RunResults judge() throws InterruptedException {
    if (begun == null) throw new IllegalStateException("the run was not begun");
    return finished(begun);
  }

  /** Judges other contents of the sources by the same pool, as a run of its own. */
  public RunResults judge(Reading next) throws InterruptedException {
    if (begun == null) throw new IllegalStateException("no run was begun before");
    RunInfo run = begun(begun.pool(), next.candidates());
    FolderLock.judges(request.results().out(), run.id());
    return finished(new Begun(run, begun.pool(), next));
  }

  private RunResults finished(Begun judged) throws InterruptedException {
    RunInfo run = judged.run();
    LatestRun latest = new LatestRun(request.results().out(), run.id());
    try (ResultFiles files = new ResultFiles(latest.folder())) {
      files.rewrite(line -> store.forEach(run.id(), stored -> line.accept(stored.json())));
      latest.link();
      judged
          .pool()
          .judge(
              store,
              request.asked().plan(),
              run,
              judged.reading().candidates(),
              stored -> files.append(stored.json()));
      RunResults results =
          RunResults.finish(
              store, run, files, request.asked().selected(), problems(judged.reading()));
      latest.link();
      return results;
    }
  }

  /** The verdicts of a run, whole. */
  public Collection<Verdict> verdicts(RunResults results) {
    return store.verdicts(results.run().id()).values();
  }

  @Override
  public void close() throws IOException {
    try (lock) {
      store.close();
    }
  }

  /**
   * A run that {@code --resume} continues. All its settings must be unchanged, as verdicts of one
   * run are comparable.
   */
  private record ResumedRun(RunInfo run) {

    /** The newest run of these sources, preferably an unfinished one; empty if there is none. */
    static Optional<ResumedRun> find(RunStore store, List<Path> sources) {
      List<String> names = sources.stream().map(Path::toString).toList();
      List<RunInfo> runs =
          store.runs().stream()
              .filter(r -> r.published() == null)
              .filter(r -> names.isEmpty() || r.sources().equals(names))
              .toList();
      return runs.stream()
          .filter(run -> run.finished() == null)
          .findFirst()
          .or(() -> runs.stream().findFirst())
          .map(ResumedRun::new);
    }

    /** Throws if its plan differs. */
    void checkPlan(RunPlan asked) {
      Plan plan = asked.plan();
      String suite = asked.suite().label();
      same(how(run.suite(), suite), run.suite(), suite);
      same("with --tasks ", run.tasks(), asked.tasks());
      same("with --stages ", stages(run.stages()), stages(plan.stages()));
      same("with ", rules(run.rulesOff()), rules(asked.rulesOff()));
      same("against ", run.baseline(), plan.against());
      same("with --tolerance ", run.tolerance(), plan.tolerance().label());
      same("with --grade ", run.grade(), plan.grade().label());
      same("with --precision ", run.precision(), plan.precision().label());
      String policies = plan.policies(asked.selected());
      same("with --policy ", Objects.requireNonNullElse(run.policy(), policies), policies);
      same("", accounting(run.publishedAccounting()), accounting(plan.publishedAccounting()));
      RunInfo.Settings then = run.settings();
      if (then == null) return;
      RunInfo.Settings now = RunService.settings(plan, List.of());
      if (!run.device().onGpu()) same("with --arch ", then.arch(), now.arch());
      same("with --timeout ", then.timeoutSeconds(), now.timeoutSeconds());
      Boolean checked = then.memoryChecks(); // Earlier versions had no such checks.
      if (checked != null)
        same("with --memory-checks ", onOff(checked), onOff(plan.memoryChecks()));
      same("", profiles(then.profile()), profiles(now.profile()));
      same("", properties(then), properties(now));
      same("", experts(then), experts(now));
      if (!then.seed().equals(now.seed())) {
        throw new InputException(
            "run %s was begun with another --seed, or where .kbx/secret was another; start a new run without --resume"
                .formatted(run.id()));
      }
    }

    private static String experts(RunInfo.Settings settings) {
      return settings.experts() == null
          ? "without an expert's kernel"
          : "beside an expert's kernel (%s)".formatted(settings.experts());
    }

    private static String properties(RunInfo.Settings settings) {
      List<String> names = settings.properties();
      return names == null
          ? "without --properties"
          : "with --properties " + String.join(",", names);
    }

    /** Throws if its candidates differ from these. */
    void checkCandidates(List<Candidate> candidates, Plan plan, RunStore store) {
      if (run.candidates() != candidates.size()) {
        throw new InputException(
            "run %s had %d candidates and the sources now hold %d; start a new run without --resume"
                .formatted(run.id(), run.candidates(), candidates.size()));
      }
      checkTasks(candidates, store);
      RunInfo.Settings then = run.settings();
      if (then != null && then.sources().equals(RunService.settings(plan, candidates).sources()))
        return;
      for (RunStore.Judged judged : store.judged(run.id())) {
        Candidate candidate = candidates.get(judged.position());
        if (candidate.identity().equals(judged.identity())) continue;
        throw new InputException(
            "%s is not what run %s judged there: restore it, or start a new run without --resume"
                .formatted(candidate.origin(), run.id()));
      }
    }

    /**
     * Throws if verdicts of a task would be mixed that may not be comparable: if some of its
     * candidates are judged, some are not, and its code may read files that have changed meanwhile.
     */
    private void checkTasks(List<Candidate> candidates, RunStore store) {
      Set<Integer> judged =
          store.judged(run.id()).stream()
              .map(RunStore.Judged::position)
              .collect(Collectors.toSet());
      Map<Task, Set<Boolean>> states = new LinkedHashMap<>();
      for (int i = 0; i < candidates.size(); i++) {
        states
            .computeIfAbsent(candidates.get(i).task(), _ -> new HashSet<>())
            .add(judged.contains(i));
      }
      states.forEach((task, state) -> {
        if (state.size() == 1) return;
        task.reads()
            .ifPresent(place -> {
              throw new InputException(
                  "run %s cannot go on: its task %s may read other files (%s), and whether these are as they were is not known; start a new run without --resume"
                      .formatted(run.id(), task.path(), place));
            });
      });
    }

    /** Throws if device or software versions differ. */
    void checkDevice(JudgingPool pool) {
      if (run.device().equals(pool.device()) && run.versions().equals(pool.versions())) return;
      throw new InputException(
          "run %s was begun on %s with %s, this is %s with %s; start a new run without --resume"
              .formatted(
                  run.id(),
                  run.device().name(),
                  run.versions(),
                  pool.device().name(),
                  pool.versions()));
    }

    /** One line about how it continues. */
    String described(int judged) {
      return judged == run.candidates()
          ? "run %s is complete: nothing is judged again".formatted(run.id())
          : "run %s goes on: %d of %d were judged".formatted(run.id(), judged, run.candidates());
    }

    private void same(String how, Object then, Object now) {
      if (then.equals(now)) return;
      throw new InputException(
          "run %s was begun %s%s, this is %s%s; give the same, or start a new run without --resume"
              .formatted(run.id(), how, then, how, now));
    }

    /** A reference of the user's own says by itself what it is. */
    private static String how(String then, String now) {
      return (then + now).contains(OwnReference.LABEL) ? "on " : "with --suite ";
    }

    private static String stages(List<Stage> stages) {
      return stages.stream().map(Stage::label).collect(Collectors.joining(","));
    }

    private static String rules(List<String> off) {
      return off.isEmpty() ? "all rules on" : "--off " + String.join(",", off);
    }

    private static String accounting(boolean published) {
      return published ? "with published accounting" : "with --no-published-accounting";
    }

    private static String onOff(boolean on) {
      return on ? "on" : "off";
    }

    private static String profiles(boolean profile) {
      return profile ? "with --profile" : "without --profile";
    }
  }
}
