package dev.kbx.cli;

import dev.kbx.app.FolderLock;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.RunPlan;
import dev.kbx.judge.TaskReferee;
import dev.kbx.report.ControlFiles;
import dev.kbx.section.ControlsSection;
import dev.kbx.task.BrokenTask;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.TaskVerdict;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx tasks verify}: judges tasks by their controls. */
@Command(
    name = "verify",
    description = {
      "Run the controls of tasks: honest results must pass, spoiled ones must fail.",
      "Exit code 1 if a control does not end as expected, or a file cannot be used."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Example:",
      "  kbx tasks verify rms_norm --suite my-tasks",
      "",
      "Under --out: controls.jsonl, a task a line, and controls.html, the matrix."
    })
final class VerifyCommand implements Callable<Integer> {
  @Mixin private Options.SuiteChoice suite = new Options.SuiteChoice();
  @Mixin private Options.Seed seed = new Options.Seed();
  @Mixin private Options.PrecisionChoice precision = new Options.PrecisionChoice();
  @Mixin private Options.Arch arch = new Options.Arch();
  @Mixin private Options.OutFolder out = new Options.OutFolder();
  @Mixin private Options.Workers workers = new Options.Workers();
  @Mixin private Options.Cluster cluster = new Options.Cluster();

  @Parameters(
      paramLabel = "TASK",
      arity = "0..*",
      description = "Names, Category/name, globs of either, or level/number. Default: all.")
  private List<String> names = List.of();

  @HelpSection.In(HelpSection.RESULTS)
  @Option(
      names = "--resume",
      description = "Keep what --out holds of tasks that have not changed since.")
  private boolean resume;

  @Mixin private Options.JsonFlag json = new Options.JsonFlag();

  @Override
  public Integer call() throws Exception {
    workers.check();
    Suite opened = suite.open();
    List<Task> tasks =
        opened.tasks().isEmpty() && names.isEmpty()
            ? List.of()
            : opened.find(names.isEmpty() ? "*" : String.join(",", names));
    RunPlan.check(precision.precision(), tasks);
    List<BrokenTask> broken = names.isEmpty() ? opened.broken() : List.of();
    Path folder = out.writable();
    try (var _ = FolderLock.of(folder);
        ControlFiles files = new ControlFiles(folder)) {
      List<TaskVerdict> verdicts = verify(opened, tasks, broken, files);
      print(verdicts, files);
      return verdicts.stream().allMatch(TaskVerdict::ok) ? ExitCode.OK : ExitCode.USAGE;
    }
  }

  private List<TaskVerdict> verify(
      Suite opened, List<Task> tasks, List<BrokenTask> broken, ControlFiles files)
      throws InterruptedException {
    Map<String, TaskVerdict> before = resume ? files.before() : Map.of();
    try (Interrupts interrupts = new Interrupts("interrupted; nothing was judged yet");
        JudgingPool pool = JudgingPool.start(workers.settings(cluster), List.of(opened))) {
      interrupts.advise(Interrupts.RESUMABLE);
      TaskReferee verification =
          pool.tasks(JudgingPool.controls(arch.arch(), seed.seed(), precision.precision()));
      Map<String, TaskVerdict> kept = kept(opened, before, verification);
      Map<String, TaskVerdict> found = new HashMap<>(kept);
      files.start(found.values());
      VerifyProgress progress = new VerifyProgress(tasks.size());
      verification.run(
          tasks,
          kept,
          verdict -> {
            boolean known = found.put(verdict.path(), verdict) != null;
            if (!known) files.append(verdict);
            progress.verdict(verdict, known);
          });
      List<TaskVerdict> unusable = broken.stream().map(each -> unusable(opened, each)).toList();
      files.finish(with(unusable, opened.tasks(), found), opened.name(), pool.device());
      return with(unusable, tasks, found);
    }
  }

  /** Known verdicts of all tasks of the suite, by path. */
  private static Map<String, TaskVerdict> kept(
      Suite suite, Map<String, TaskVerdict> before, TaskReferee verification) {
    Map<String, TaskVerdict> kept = new HashMap<>();
    if (before.isEmpty()) return kept;
    for (Task task : suite.tasks()) {
      TaskVerdict known = before.get(verification.key(task));
      if (known != null) kept.put(task.path(), known);
    }
    return kept;
  }

  private static List<TaskVerdict> with(
      List<TaskVerdict> first, List<Task> tasks, Map<String, TaskVerdict> found) {
    List<TaskVerdict> verdicts = new ArrayList<>(first);
    for (Task task : tasks) {
      TaskVerdict verdict = found.get(task.path());
      if (verdict != null) verdicts.add(verdict);
    }
    return verdicts;
  }

  private static TaskVerdict unusable(Suite suite, BrokenTask task) {
    return new TaskVerdict(
        task.name(),
        suite.name(),
        task.category(),
        task.file().toString(),
        null,
        task.toString(),
        List.of(),
        null,
        null);
  }

  private void print(List<TaskVerdict> verdicts, ControlFiles files) {
    if (json.isAsked()) {
      Options.JsonFlag.print(verdicts);
      return;
    }
    System.out.print(Terminal.text(ControlsSection.of(verdicts)));
    ControlsSection.complaints(verdicts).forEach(System.out::println);
    System.out.println("matrix: " + files.page());
  }

  /** A line on stderr for every verified task. */
  private static final class VerifyProgress {
    private final int tasks;
    private final long start = System.nanoTime();
    private int done;
    private int judged;

    VerifyProgress(int tasks) {
      this.tasks = tasks;
    }

    /** Counts a verdict, which may be known from an earlier run. */
    synchronized void verdict(TaskVerdict verdict, boolean remembered) {
      done++;
      if (!remembered) judged++;
      System.err.printf(
          "%s %4d/%d  %s  %s%s%n",
          verdict.ok() ? "ok  " : "FAIL",
          done,
          tasks,
          verdict.path(),
          remembered ? "as before" : "%.1f s".formatted(verdict.seconds()),
          eta());
    }

    private String eta() {
      if (judged < 5 || done == tasks) return "";
      double each = (System.nanoTime() - start) / 1e9 / judged;
      return "  (about %.0f s left)".formatted(each * (tasks - done));
    }
  }
}
