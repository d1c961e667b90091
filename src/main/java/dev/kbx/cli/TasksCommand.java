package dev.kbx.cli;

import dev.kbx.python.PythonProblem;
import dev.kbx.run.Verification;
import dev.kbx.task.Suite;
import dev.kbx.task.Suites;
import dev.kbx.task.Task;
import dev.kbx.task.TaskView;
import dev.kbx.verdict.Json;
import dev.kbx.worker.Message;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx tasks list|show|verify}: the tasks of a suite. */
@Command(
    name = "tasks",
    description = "List, show and verify the tasks of a suite.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "list|show|verify|import",
    subcommands = {
      TasksCommand.ListTasks.class,
      TasksCommand.ShowTask.class,
      TasksCommand.VerifyTasks.class,
      ImportTasksCommand.class
    })
final class TasksCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new UserError("tasks: say list, show TASK or verify [TASK...]");
  }

  /** The suite of every subcommand. */
  static final class SuiteOption {
    @Option(
        names = "--suite",
        paramLabel = "SUITE",
        defaultValue = "kernelbenchx",
        description = "kernelbenchx, or a folder of task files. Default: ${DEFAULT-VALUE}.")
    private String suite = "kernelbenchx";

    /** Opens the suite and says which of its files cannot be used. */
    Suite open() {
      Suite opened = Suites.open(suite, Home.tasks());
      opened.broken().forEach(problem -> System.err.println("kbx: " + problem));
      return opened;
    }
  }

  @Command(name = "list", description = "All tasks.", mixinStandardHelpOptions = true)
  static final class ListTasks implements Callable<Integer> {
    @Mixin private SuiteOption suite = new SuiteOption();

    @Option(names = "--json", description = "An array of tasks.")
    private boolean json;

    @Override
    public Integer call() {
      List<Task> tasks = suite.open().tasks();
      if (json) {
        List<TaskView> rows = tasks.stream().map(TaskView::of).toList();
        System.out.println(Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(rows));
      } else {
        tasks.forEach(task -> System.out.println(line(task)));
      }
      return ExitCode.OK;
    }
  }

  /** Category and signature, cut to the terminal. */
  private static String line(Task task) {
    String line = "%-14s  %s".formatted(task.category(), task.signature());
    int columns = Terminal.columns();
    return line.length() <= columns ? line : line.substring(0, columns - 1) + "…";
  }

  @Command(name = "show", description = "One task.", mixinStandardHelpOptions = true)
  static final class ShowTask implements Callable<Integer> {
    @Mixin private SuiteOption suite = new SuiteOption();

    @Parameters(paramLabel = "TASK", description = "A task's name, or Category/name.")
    private String task = "";

    @Option(names = "--json", description = "One object.")
    private boolean json;

    @Override
    public Integer call() {
      for (Task found : suite.open().find(task)) {
        System.out.println(
            json
                ? Json.mapper()
                    .writerWithDefaultPrettyPrinter()
                    .writeValueAsString(TaskView.of(found))
                : TaskView.text(found));
      }
      return ExitCode.OK;
    }
  }

  @Command(
      name = "verify",
      description = {
        "Run the controls of tasks: honest results must pass, spoiled ones must fail.",
        "Exit code 1 when a control does not do what it must."
      },
      mixinStandardHelpOptions = true)
  static final class VerifyTasks implements Callable<Integer> {
    @Mixin private SuiteOption suite = new SuiteOption();
    @Mixin private WorkerOptions workers = new WorkerOptions();

    @Parameters(paramLabel = "TASK", arity = "0..*", description = "Names or globs. Default: all.")
    private List<String> names = List.of();

    @Option(names = "--json", description = "An array with one object a task.")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException, PythonProblem {
      Suite opened = suite.open();
      List<Task> tasks = opened.find(names.isEmpty() ? "*" : String.join(",", names));
      List<Verification.Result> results;
      try (WorkerPool pool = WorkerPool.start(workers)) {
        results = Verification.of(pool.slots(), Home.secret(), tasks, this::progress);
      }
      if (json) {
        List<Map<String, Object>> rows = results.stream().map(VerifyTasks::fields).toList();
        System.out.println(Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(rows));
      } else {
        System.out.print(ControlMatrix.of(results));
      }
      boolean sound =
          results.stream().allMatch(Verification.Result::ok) && opened.broken().isEmpty();
      return sound ? ExitCode.OK : ExitCode.USAGE;
    }

    private void progress(Verification.Result result) {
      System.err.printf(
          "%s  %s  %.1f s%n",
          result.ok() ? "ok  " : "FAIL", result.task().path(), result.seconds());
    }

    private static Map<String, Object> fields(Verification.Result result) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("name", result.task().name());
      row.put("suite", result.task().suite());
      row.put("category", result.task().category());
      row.put("ok", result.ok());
      if (result.problem() != null) row.put("problem", result.problem());
      List<Message.Control> controls = new ArrayList<>(result.controls());
      row.put("controls", controls);
      return row;
    }
  }
}
