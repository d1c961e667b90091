package dev.kbx.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.app.Home;
import dev.kbx.app.UserError;
import dev.kbx.app.WorkerPool;
import dev.kbx.candidate.Candidate;
import dev.kbx.certify.CertificateEntry;
import dev.kbx.certify.CertificateHeader;
import dev.kbx.check.Rules;
import dev.kbx.document.Text;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Grade;
import dev.kbx.plan.L2State;
import dev.kbx.plan.Limits;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Tolerance;
import dev.kbx.python.PythonProblem;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Speedup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Judges candidates of a certificate again, on this machine. */
final class CertificateReplay {
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
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Row(
      String candidate,
      Status then,
      @Nullable Status now,
      @Nullable String incomparable,
      @Nullable Speedup speedupThen,
      @Nullable Speedup speedupNow,
      @Nullable Boolean speed,
      @Nullable String speedIncomparable) {
    static Row notJudged(String name, Status then, String why) {
      return new Row(name, then, null, why, null, null, null, null);
    }

    boolean agrees() {
      return incomparable == null && then == now;
    }

    boolean disagrees() {
      return incomparable == null && then != now;
    }
  }

  /**
   * All of them.
   *
   * @param otherJudge whether another version of kbx judged them then
   */
  record Result(String device, boolean otherJudge, List<Row> rows) {
    List<Row> disagreeing() {
      return rows.stream().filter(Row::disagrees).toList();
    }

    List<String> lines() {
      List<String> lines = new ArrayList<>();
      long comparable = rows.stream().filter(row -> row.incomparable() == null).count();
      lines.add(
          "replayed on %s%s: %d of %d verdicts agree, %d cannot be compared"
              .formatted(
                  device,
                  otherJudge ? ", by another version of the judge" : "",
                  rows.stream().filter(Row::agrees).count(),
                  comparable,
                  rows.size() - comparable));
      long timed = rows.stream().filter(row -> row.speed() != null).count();
      long within = rows.stream().filter(row -> Objects.equals(row.speed(), true)).count();
      long apart = rows.stream().filter(row -> row.speedIncomparable() != null).count();
      lines.add(
          "speedups: %d of %d within both intervals, %d cannot be compared"
              .formatted(within, timed, apart));
      lines.replaceAll(Text::clean); // Names in a certificate are anybody's text.
      for (Row row : rows) line(row).ifPresent(line -> lines.add("  " + Text.clean(line)));
      return lines;
    }

    private static Optional<String> line(Row row) {
      if (row.incomparable() != null) {
        return Optional.of("%s: not compared: %s".formatted(row.candidate(), row.incomparable()));
      }
      if (row.now() != null && row.disagrees()) {
        return Optional.of(
            "%s: %s then, %s here"
                .formatted(row.candidate(), row.then().label(), row.now().label()));
      }
      if (Objects.equals(row.speed(), false)) {
        return Optional.of(
            "%s: the intervals of its speedups are apart".formatted(row.candidate()));
      }
      return row.speedIncomparable() == null
          ? Optional.empty()
          : Optional.of(
              "%s: speedup not compared: %s".formatted(row.candidate(), row.speedIncomparable()));
    }
  }

  /** Judges the entries one after the other. */
  static Result of(
      CertificateHeader header,
      List<CertificateEntry> entries,
      ReplayedSuite suite,
      WorkerOptions workers)
      throws InterruptedException, PythonProblem {
    Plan plan = plan(header.run());
    workers.check(plan.stages());
    try (Interrupts _ = new Interrupts("interrupted; the certificate was read, nothing is kept");
        WorkerPool pool = pool(workers, plan, suite)) {
      CertificateReplay replay = new CertificateReplay(header, suite, pool, plan);
      List<Row> rows = new ArrayList<>();
      for (CertificateEntry entry : entries) rows.add(replay.row(entry));
      String judge = header.run().versions().get("judge");
      boolean other = !Objects.equals(judge, pool.versions().get("judge"));
      return new Result(pool.device().name(), other, rows);
    }
  }

  private static WorkerPool pool(WorkerOptions workers, Plan plan, ReplayedSuite suite)
      throws InterruptedException, PythonProblem {
    return suite.confinedTo() == null
        ? WorkerPool.start(workers.settings(), plan)
        : WorkerPool.confined(workers.settings(), plan, suite.confinedTo());
  }

  /** The settings of the run, with this installation's seeds. */
  private static Plan plan(RunInfo run) {
    RunInfo.Settings settings = run.settings();
    Against against = Against.of(run.baseline());
    return new Plan(
        run.stages(),
        Rules.all().without(run.rulesOff()),
        settings == null ? "sm_90" : settings.arch(),
        Home.here().secret(),
        Limits.of(Duration.ofSeconds(settings == null ? 20 : settings.timeoutSeconds())),
        known(Tolerance.of(run.tolerance()), "tolerance " + run.tolerance()),
        known(Grade.of(run.grade()), "grade " + run.grade()),
        known(ModulePrecision.of(run.precision()), "precision " + run.precision()),
        run.policy() == null ? Optional.empty() : Policy.of(run.policy()),
        known(Baseline.of(against.baseline()), "baseline " + run.baseline()),
        against.warm() ? L2State.WARM : L2State.COLD,
        false,
        run.publishedAccounting());
  }

  private static <T> T known(Optional<T> setting, String name) {
    return setting.orElseThrow(
        () -> new UserError("--replay: this kbx does not know the run's " + Text.clean(name)));
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
}
