package dev.kbx.cli;

import dev.kbx.candidate.Candidate;
import dev.kbx.check.Rules;
import dev.kbx.python.PythonProblem;
import dev.kbx.report.NoiseReport;
import dev.kbx.report.NoiseTable;
import dev.kbx.run.Limits;
import dev.kbx.run.Plan;
import dev.kbx.run.Repeats;
import dev.kbx.task.Policy;
import dev.kbx.task.Suites;
import dev.kbx.task.Task;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.DeviceSlot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kbx bench noise}: how small a difference this machine can tell. */
@Command(
    name = "noise",
    description = {
      "Time references as their own candidates, the very way candidates are timed, and a kernel",
      "against a twin that moves 3 % more bytes: how small a difference can this machine tell?"
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Needs a GPU. Under --out: noise.json, the figures and every measurement. The floor is kept",
      "for the device if 20 different sizes of 50 us or more were timed."
    })
final class NoiseCommand implements Callable<Integer> {
  private static final String SUITE = "kernelbenchx";
  private static final String TWINS = "noise";

  @Option(
      names = "--tasks",
      paramLabel = "GLOB",
      defaultValue = "*",
      description = "Only these tasks: names or Category/name, with * and ?, separated by commas.")
  private String tasks = "*";

  @Option(
      names = "--repeats",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Times each reference is judged, each in a new process. Default: ${DEFAULT-VALUE}.")
  private int repeats = 1;

  @Option(
      names = "--twins",
      paramLabel = "N",
      defaultValue = "5",
      description =
          "Times the kernel and its twin are judged, at four sizes each. Default:"
              + " ${DEFAULT-VALUE}.")
  private int twins = 5;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      defaultValue = "kbx-out",
      description = "Where results go. Default: ${DEFAULT-VALUE}.")
  private Path out = Path.of("kbx-out");

  @Mixin private WorkerOptions workers = new WorkerOptions();

  @Override
  public Integer call() throws InterruptedException, PythonProblem {
    if (repeats < 0 || twins < 0 || repeats + twins == 0) {
      throw new UserError("--repeats %d --twins %d: nothing to time".formatted(repeats, twins));
    }
    needGpu(Devices.slots(workers.device, workers.jobs).getFirst());
    List<Candidate> references = references(Suites.open(SUITE, Home.tasks()).find(tasks));
    Path folder = OutFolder.writable(out);
    NoiseReport report;
    try (var _ = FolderLock.of(folder)) {
      report = measure(references);
      report.write(folder);
    } catch (IOException e) {
      throw new UserError("--out %s: cannot write there: %s".formatted(folder, e.getMessage()));
    }
    System.out.print(new NoiseTable(Terminal.columns()).render(report));
    if (report.rows().isEmpty() && report.twins() == null) {
      throw new UserError("no size was timed: " + report.untimed().getFirst());
    }
    NoiseFloor floor = report.floor();
    if (floor != null) {
      new NoiseFloors(Home.stateFolders())
          .keep(floor)
          .ifPresent(file -> System.out.println("kept in " + file));
    }
    return ExitCode.OK;
  }

  private static void needGpu(DeviceSlot slot) {
    if (slot.kind() != DeviceSlot.Kind.CUDA) {
      throw new UserError("bench noise: no GPU is used, so there is nothing to time");
    }
  }

  private NoiseReport measure(List<Candidate> references)
      throws InterruptedException, PythonProblem {
    Plan plan =
        new Plan(
            List.of(Stage.CALL, Stage.CORRECT, Stage.PERF),
            Rules.all(),
            VerifyCommand.ARCH,
            Home.secret(),
            Limits.defaults());
    List<Candidate> all = new ArrayList<>(references);
    Task task = Suites.open(TWINS, Home.tasks()).find("copy").getFirst();
    for (int repeat = 0; repeat < twins; repeat++) {
      all.add(twin(task, "copy.py", repeat));
      all.add(twin(task, "slowed.py", repeat));
    }
    try (Interrupts _ = new Interrupts("interrupted; nothing was kept");
        WorkerPool pool = WorkerPool.start(workers, plan)) {
      needGpu(pool.slots().getFirst().device());
      List<Verdict> verdicts = judge(plan, pool, all);
      int first = references.size();
      return NoiseReport.of(
          pool.device(),
          pool.versions(),
          Instant.now().truncatedTo(ChronoUnit.SECONDS),
          verdicts.subList(0, first),
          every(2, verdicts.subList(first, verdicts.size())),
          every(2, verdicts.subList(Math.min(first + 1, verdicts.size()), verdicts.size())));
    }
  }

  private static List<Verdict> judge(Plan plan, WorkerPool pool, List<Candidate> candidates)
      throws InterruptedException {
    Progress progress =
        new Progress(System.err, Terminal.interactive(), Terminal.columns(), candidates.size(), 0);
    try {
      return new Repeats(pool.slots(), plan, pool.device(), pool.versions())
          .judge(candidates, verdict -> progress.verdict(verdict, false));
    } finally {
      progress.finish();
    }
  }

  private static List<Verdict> every(int step, List<Verdict> verdicts) {
    List<Verdict> chosen = new ArrayList<>();
    for (int i = 0; i < verdicts.size(); i += step) chosen.add(verdicts.get(i));
    return chosen;
  }

  /** Every task before any comes again, so that a task's repeats lie far apart. */
  private List<Candidate> references(List<Task> found) {
    List<Candidate> candidates = new ArrayList<>();
    for (int repeat = 0; repeat < repeats; repeat++) {
      for (Task task : found) {
        // PyTorch may compute all of it, for once.
        Task open = task.tagged(Policy.REPORTED_TAG);
        candidates.add(candidate(open, task.reference(), task.file(), repeat));
      }
    }
    return candidates;
  }

  private static Candidate twin(Task task, String name, int repeat) {
    Path file = task.kernel().resolveSibling(name);
    try {
      return candidate(task, Files.readString(file), file, repeat);
    } catch (IOException e) {
      throw new UserError("%s: cannot be read (%s)".formatted(file, e.getMessage()));
    }
  }

  /** Seeds derive from the source: a comment gives every repeat values of its own. */
  private static Candidate candidate(Task task, String source, Path file, int repeat) {
    String code = source + "\n# repeat " + repeat + "\n";
    return new Candidate(task, code, file.toString(), repeat, null, null, null);
  }
}
