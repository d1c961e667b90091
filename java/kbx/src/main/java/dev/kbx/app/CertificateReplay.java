package dev.kbx.app;

import dev.kbx.candidate.Candidate;
import dev.kbx.certify.CertificateEntry;
import dev.kbx.certify.CertificateHeader;
import dev.kbx.check.Rules;
import dev.kbx.document.Text;
import dev.kbx.error.InputException;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Grade;
import dev.kbx.plan.L2State;
import dev.kbx.plan.Limits;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.plan.ServingProperty;
import dev.kbx.plan.Tolerance;
import dev.kbx.task.InvalidSuite;
import dev.kbx.task.Policy;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.task.UnknownTask;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Speedup;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Judges candidates of a certificate again, on this machine. */
public final class CertificateReplay {
  private final CertificateHeader header;
  private final WorkerPool pool;
  private final Plan plan;
  private final Map<String, Task> tasks;

  private CertificateReplay(
      CertificateHeader header, ReplayedSuite suite, WorkerPool pool, Plan plan) {
    this.header = header;
    this.tasks = suite.tasks();
    this.pool = pool;
    this.plan = plan;
  }

  /**
   * What came of one candidate.
   *
   * @param then its status in the certificate
   * @param now its status here; null if it could not be judged here
   * @param incomparable why the two cannot be compared; null if they can
   * @param speed whether the intervals of both speedups overlap; null if they cannot be compared
   * @param speedIncomparable why not; null if they can, or neither has a speedup
   */
  public record Row(
      String candidate,
      Status then,
      @Nullable Status now,
      @Nullable String incomparable,
      @Nullable Speedup speedupThen,
      @Nullable Speedup speedupNow,
      @Nullable Boolean speed,
      @Nullable String speedIncomparable) {
    public static Row notJudged(String name, Status then, String why) {
      return new Row(name, then, null, why, null, null, null, null);
    }

    public boolean agrees() {
      return incomparable == null && then == now;
    }

    public boolean disagrees() {
      return incomparable == null && then != now;
    }
  }

  /**
   * The results of all replayed verdicts.
   *
   * @param otherJudge whether another version of kbx judged them then
   */
  public record Result(String device, boolean otherJudge, List<Row> rows) {
    public List<Row> disagreeing() {
      return rows.stream().filter(Row::disagrees).toList();
    }
  }

  /**
   * Judges the entries one after the other.
   *
   * @param named the folder of the run's suite, if that is none of kbx's own; its code is sandboxed
   * @throws InputException if the run's suite is not kbx's own and no folder is named, or that
   *     cannot be used, or the run has a setting that this kbx does not know
   */
  public static Result of(
      CertificateHeader header,
      List<CertificateEntry> entries,
      @Nullable Path named,
      JudgingSettings settings)
      throws InterruptedException {
    Home home = settings.home();
    ReplayedSuite suite = ReplayedSuite.of(home, header, named);
    Plan plan = plan(home, header.run());
    try (WorkerPool pool =
        suite.confinedTo() == null
            ? WorkerPool.start(settings, plan)
            : WorkerPool.confined(settings, plan, suite.confinedTo())) {
      CertificateReplay replay = new CertificateReplay(header, suite, pool, plan);
      List<Row> rows = new ArrayList<>();
      for (CertificateEntry entry : entries) rows.add(replay.row(entry));
      String judge = header.run().versions().get("judge");
      boolean other = !Objects.equals(judge, pool.versions().get("judge"));
      return new Result(pool.device().name(), other, rows);
    }
  }

  /** The settings of the run, with this installation's seeds. */
  private static Plan plan(Home home, RunInfo run) {
    RunInfo.Settings settings = run.settings();
    Against against = Against.of(run.baseline());
    return new Plan(
            run.stages(),
            Rules.all().without(run.rulesOff()),
            settings == null ? "sm_90" : settings.arch(),
            home.secret(),
            Limits.of(Duration.ofSeconds(settings == null ? 20 : settings.timeoutSeconds())),
            known(Tolerance.of(run.tolerance()), "tolerance " + run.tolerance()),
            known(Grade.of(run.grade()), "grade " + run.grade()),
            known(ModulePrecision.of(run.precision()), "precision " + run.precision()),
            run.policy() == null ? Optional.empty() : Policy.of(run.policy()),
            known(Baseline.of(against.baseline()), "baseline " + run.baseline()),
            against.warm() ? L2State.WARM : L2State.COLD,
            false,
            run.publishedAccounting(),
            settings == null || !Boolean.FALSE.equals(settings.memoryChecks()))
        .asking(properties(settings));
  }

  private static List<ServingProperty> properties(RunInfo.@Nullable Settings settings) {
    if (settings == null || settings.properties() == null) return List.of();
    return settings.properties().stream()
        .map(name -> known(ServingProperty.of(name), "property " + name))
        .toList();
  }

  private static <T> T known(Optional<T> setting, String name) {
    return setting.orElseThrow(
        () -> new InputException("--replay: this kbx does not know the run's " + Text.clean(name)));
  }

  private Row row(CertificateEntry entry) throws InterruptedException {
    Verdict then = entry.verdict();
    String path = then.provenance().category() + "/" + then.provenance().task();
    Task task = tasks.get(path);
    String code = entry.code();
    Status status = then.judgement().status();
    if (code == null) return Row.notJudged(entry.name(), status, "the certificate has no source");
    if (task == null) return Row.notJudged(entry.name(), status, "its task is not here");
    if (!task.digest().equals(header.tasks().get(path))) {
      return Row.notJudged(entry.name(), status, "its task differs here");
    }
    Judgement now = pool.referee().judge(candidate(task, code, then), plan);
    return compared(entry.name(), then, now);
  }

  private static Candidate candidate(Task task, String code, Verdict then) {
    return new Candidate(
        task,
        code,
        then.provenance().source(),
        then.provenance().sample(),
        then.provenance().method(),
        then.provenance().model(),
        then.provenance().round());
  }

  private static Row compared(String name, Verdict then, Judgement now) {
    String apart = incomparable(then, now);
    Speedup before = then.judgement().speedup();
    Speedup after = now.speedup();
    String speedApart = before == null ? null : speedIncomparable(then, now);
    boolean comparable = speedApart == null && apart == null;
    Boolean speed = comparable ? overlap(before, after) : null;
    return new Row(
        name, then.judgement().status(), now.status(), apart, before, after, speed, speedApart);
  }

  private static @Nullable Boolean overlap(@Nullable Speedup one, @Nullable Speedup other) {
    if (one == null || other == null) return null;
    return one.low() <= other.high() && other.low() <= one.high();
  }

  private static @Nullable String incomparable(Verdict then, Judgement now) {
    if (!then.judgement().device().kind().equals(now.device().kind())) {
      return "judged on %s then, on %s here"
          .formatted(then.judgement().device().name(), now.device().name());
    }
    for (Status status : List.of(then.judgement().status(), now.status())) {
      if (status == Status.INFRASTRUCTURE || status == Status.INVALID_TASK) {
        String message = status == now.status() ? now.message() : then.judgement().message();
        return status.label()
            + " says nothing about the candidate"
            + (message == null ? "" : ": " + Text.clean(message));
      }
    }
    return null;
  }

  private static @Nullable String speedIncomparable(Verdict then, Judgement now) {
    Speedup before = then.judgement().speedup();
    Speedup after = now.speedup();
    if (!then.judgement().device().name().equals(now.device().name())) {
      return "timed on %s then, this is %s"
          .formatted(then.judgement().device().name(), now.device().name());
    }
    if (after == null) return "it was not timed here";
    return before != null && !before.baseline().equals(after.baseline())
        ? "against %s then, %s here".formatted(before.baseline(), after.baseline())
        : null;
  }

  /**
   * The tasks that candidates of a certificate are judged by again. A certificate is anybody's
   * file, and task files are programs: so they are kbx's own, or lie in a folder that the user
   * names. In the latter case their code runs in a sandbox.
   *
   * @param tasks by path
   * @param confinedTo the named folder, by its real path; null if the tasks are kbx's own
   */
  private record ReplayedSuite(Map<String, Task> tasks, @Nullable Path confinedTo) {

    /**
     * The tasks of a certificate's run.
     *
     * @param named the folder that the user names, if any
     * @throws InputException if the run's suite is not kbx's own and no folder is named, or that
     *     cannot be used
     */
    static ReplayedSuite of(Home home, CertificateHeader header, @Nullable Path named) {
      if (named == null) {
        Suite bundled =
            home.bundledSuite(header.run().suite())
                .orElseThrow(() -> new InputException(foreign(header.run().suite())));
        return new ReplayedSuite(tasks(bundled, header), null);
      }
      Path folder = real(home, named);
      return new ReplayedSuite(tasks(home.suite(folder.toString()), header), folder);
    }

    private static String foreign(String suite) {
      return "--replay: '%s' is not a suite of this kbx, and task files are programs; --suite DIR names the folder with a copy, whose code then runs in the sandbox"
          .formatted(Text.clean(suite));
    }

    private static Path real(Home home, Path named) {
      Path folder;
      try {
        folder = named.toRealPath();
      } catch (IOException e) {
        throw new InputException("--suite %s: cannot be read: %s".formatted(named, Reason.of(e)));
      }
      // All that lies in it can be read by its code.
      if (ofThisUser(home).anyMatch(own -> own.startsWith(folder))) {
        throw new InputException(
            "--suite %s: kbx's own files or your home lie in it; name the folder of the suite alone"
                .formatted(named));
      }
      return folder;
    }

    private static Stream<Path> ofThisUser(Home kbx) {
      Stream<Path> home =
          Optional.ofNullable(System.getenv("HOME")).filter(text -> !text.isBlank()).stream()
              .map(Path::of);
      return Stream.of(kbx.stateFolders().stream(), Stream.of(kbx.folder()), home)
          .flatMap(paths -> paths)
          .map(ReplayedSuite::resolved);
    }

    private static Path resolved(Path path) {
      try {
        return path.toRealPath();
      } catch (IOException e) {
        return path.toAbsolutePath().normalize();
      }
    }

    private static Map<String, Task> tasks(Suite suite, CertificateHeader header) {
      Map<String, Task> found = new HashMap<>();
      try {
        List<Task> selected = suite.find(header.run().tasks());
        for (Task task : selected) found.put(task.path(), task);
      } catch (InvalidSuite | UnknownTask _) {
        // None of its tasks is here: each candidate says so.
      }
      return found;
    }
  }
}
