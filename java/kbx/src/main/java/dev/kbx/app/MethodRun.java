package dev.kbx.app;

import static java.util.Objects.requireNonNull;

import dev.kbx.error.EnvironmentException;
import dev.kbx.error.InputException;
import dev.kbx.generate.Generation;
import dev.kbx.generate.Header;
import dev.kbx.generate.Ledger;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.PreparedMethod;
import dev.kbx.generate.Recorded;
import dev.kbx.generate.Unit;
import dev.kbx.llm.ModelFailure;
import dev.kbx.plan.Plan;
import dev.kbx.plan.Seeds;
import dev.kbx.task.Task;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Lets methods write kernels: what {@code kbx generate} and {@code kbx run} have in common. */
public final class MethodRun {
  private final RunPlan asked;
  private final List<PreparedMethod> methods;
  private final Observer observer;

  /** Receives answers, from several threads, those of earlier sessions included. */
  public interface Answers {
    void answered(Unit unit, Task task, PreparedMethod method, Generation.Answered answered)
        throws InterruptedException;
  }

  /**
   * A ledger and what it held when it was opened.
   *
   * @param run id of the run
   */
  public record Opened(String run, Path file, Ledger ledger, Recorded recorded)
      implements AutoCloseable {
    @Override
    public void close() {
      ledger.close();
    }
  }

  /**
   * @param asked the tasks, and the plan by which feedback is found
   */
  public MethodRun(RunPlan asked, List<PreparedMethod> methods, Observer observer) {
    this.asked = asked;
    this.methods = List.copyOf(methods);
    this.observer = observer;
  }

  /**
   * Opens the run's ledger: that of an earlier run, or a new one.
   *
   * @param resume whether to go on with the newest unfinished run of these methods and tasks
   */
  public Opened open(Path folder, JudgingPool pool, boolean resume) {
    if (resume) {
      Ledgers ledgers = new Ledgers(folder);
      var earlier = ledgers.earlier(header("", pool), work().size());
      if (earlier.isPresent()) return resumed(earlier.get());
      // A run that begins anew is paid for: nobody who resumes another means that.
      ledgers.newest().ifPresent(newest -> refuse(newest, folder));
      observer.note("no run in " + folder + " to resume: a new one begins");
    }
    String run = ResultsFolder.nextRun();
    Path file = Ledgers.file(folder, run);
    Ledger ledger = Ledger.create(file, header(run, pool), InstantSource.system());
    return new Opened(run, file, ledger, Recorded.nothing());
  }

  private static void refuse(Path newest, Path folder) {
    throw new InputException(
        "--resume: no run in %s has these methods, models and tasks; its newest is %s: give the options of that, or begin a new one without --resume"
            .formatted(folder, Ledger.header(newest).run()));
  }

  private Opened resumed(Ledgers.Found found) {
    String run = found.header().run();
    int answered = found.recorded().answered();
    int all = work().size();
    observer.note(
        answered == all
            ? "run %s has all its answers: no model is asked".formatted(run)
            : "run %s goes on: %d of %d trajectories have an answer".formatted(run, answered, all));
    Ledger ledger = Ledger.resume(found.file(), InstantSource.system());
    return new Opened(run, found.file(), ledger, found.recorded());
  }

  private Header header(String run, JudgingPool pool) {
    Plan development = asked.plan();
    Map<String, String> judging = new TreeMap<>();
    judging.put("grade", development.grade().label());
    judging.put("policy", development.policies(asked.selected()));
    judging.put("precision", development.precision().label());
    judging.put("seed", Seeds.name(development.secret()));
    judging.put("off", String.join(",", asked.rulesOff()));
    return new Header(
        run,
        Instant.now(),
        asked.suite().label(),
        asked.tasks(),
        settings(),
        pool.device(),
        pool.versions(),
        judging);
  }

  List<MethodSettings> settings() {
    return methods.stream().map(PreparedMethod::settings).toList();
  }

  /** All trajectories: by sample, then task, then method, so that all methods advance together. */
  List<Generation.Work> work() {
    List<Generation.Work> work = new ArrayList<>();
    int samples = settings().stream().mapToInt(MethodSettings::samples).max().orElse(0);
    for (int sample = 0; sample < samples; sample++) {
      for (Task task : asked.selected()) {
        for (MethodSettings method : settings()) {
          if (sample >= method.samples()) continue;
          work.add(new Generation.Work(new Unit(method.name(), task.path(), sample), task));
        }
      }
    }
    return work;
  }

  /**
   * Runs all trajectories.
   *
   * @throws Incomplete if some stay open
   */
  public void run(Opened opened, JudgingPool pool, Answers answers) throws InterruptedException {
    Map<String, PreparedMethod> byName = new LinkedHashMap<>();
    methods.forEach(method -> byName.put(method.settings().name(), method));
    AtomicInteger open = new AtomicInteger();
    List<Generation.Work> work = work();
    Observer.Writing progress = observer.writing(work.size(), opened.recorded()::spent);
    Generation.Listener listener =
        new Generation.Listener() {
          @Override
          public void answered(Unit unit, Task task, Generation.Answered answered, boolean recorded)
              throws InterruptedException {
            answers.answered(unit, task, requireNonNull(byName.get(unit.method())), answered);
            progress.answered(unit, answered, recorded);
          }

          @Override
          public void postponed(Unit unit, ModelFailure why) {
            boolean first = open.getAndIncrement() == 0;
            if (first && !why.fatal()) observer.note(String.valueOf(why.getMessage()));
          }
        };
    Generation generation =
        new Generation(
            byName,
            opened.recorded(),
            opened.ledger(),
            new Generation.DevelopmentJudge(pool.referee(), asked.plan()),
            listener);
    try {
      generation.run(work);
    } finally {
      progress.finish();
    }
    if (open.get() > 0) {
      throw new Incomplete(
          "%d of %d trajectories have no answer, as the model could not be reached; the same command with --resume goes on"
              .formatted(open.get(), work.size()));
    }
  }

  /** The run could not be completed; what was done is kept. */
  public static final class Incomplete extends EnvironmentException {
    private static final long serialVersionUID = 1;

    Incomplete(String message) {
      super(message);
    }
  }
}
