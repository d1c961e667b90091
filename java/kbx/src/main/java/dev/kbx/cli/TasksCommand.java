package dev.kbx.cli;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.app.Home;
import dev.kbx.app.RunPlan;
import dev.kbx.error.InputException;
import dev.kbx.plan.Grade;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.prompt.Prompts;
import dev.kbx.prompt.Statement;
import dev.kbx.task.Policy;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.task.TaskView;
import dev.kbx.verdict.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx tasks list|show|verify|import|new}: the tasks of a suite. */
@Command(
    name = "tasks",
    description = "List, show, verify, import and make the tasks of a suite.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "list|show|verify|import|new",
    subcommands = {
      TasksCommand.ListTasks.class,
      TasksCommand.ShowTask.class,
      VerifyCommand.class,
      ImportTasksCommand.class,
      NewTaskCommand.class
    })
final class TasksCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new InputException(
        "tasks: say list, show TASK, verify [TASK...], import FORMAT DIR or new NAME --from FILE");
  }

  @Command(name = "list", description = "All tasks.", mixinStandardHelpOptions = true)
  static final class ListTasks implements Callable<Integer> {
    @Mixin private Options.SuiteChoice suite = new Options.SuiteChoice();

    @Option(
        names = "--category",
        paramLabel = "NAME",
        description = "Only tasks of this category: Reduce, level1.")
    private @Nullable String category;

    @Mixin private Options.JsonFlag json = new Options.JsonFlag();

    @Override
    public Integer call() {
      Suite opened = suite.open();
      List<Task> all = new ArrayList<>(opened.tasks());
      opened.without().forEach(each -> all.add(each.forward()));
      List<Task> wanted = chosen(all);
      List<Task> tasks = opened.tasks().stream().filter(wanted::contains).toList();
      List<Suite.Lacking> without =
          opened.without().stream().filter(each -> wanted.contains(each.forward())).toList();
      if (json.isAsked()) {
        List<Object> rows = new ArrayList<>(tasks.stream().map(TaskView::of).toList());
        without.forEach(
            each -> rows.add(new WithoutGradient(TaskView.of(each.forward()), each.why())));
        Options.JsonFlag.print(rows);
      } else {
        TaskTable.lines(tasks).forEach(System.out::println);
        print(without);
      }
      return ExitCode.OK;
    }

    /** A task without a gradient, as JSON. */
    private record WithoutGradient(@JsonUnwrapped TaskView task, String without) {}

    private static void print(List<Suite.Lacking> without) {
      if (without.isEmpty()) return;
      System.out.printf("%nWithout a gradient to judge (%d):%n", without.size());
      without.forEach(each -> System.out.printf("%s: %s%n", each.forward().path(), each.why()));
    }

    private List<Task> chosen(List<Task> all) {
      String wanted = category;
      if (wanted == null) return all;
      List<Task> tasks =
          all.stream().filter(task -> task.category().equalsIgnoreCase(wanted)).toList();
      if (!tasks.isEmpty()) return tasks;
      throw new InputException(
          "--category %s: no such category; there are %s"
              .formatted(
                  wanted,
                  all.stream()
                      .map(Task::category)
                      .distinct()
                      .sorted()
                      .collect(Collectors.joining(", "))));
    }
  }

  @Command(name = "show", description = "One task.", mixinStandardHelpOptions = true)
  static final class ShowTask implements Callable<Integer> {
    /** Maximum number of tasks named in a message about a pattern. */
    private static final int NAMED = 5;

    @Mixin private Options.SuiteChoice suite = new Options.SuiteChoice();

    @Parameters(
        paramLabel = "TASK",
        description = "A task's name, Category/name, or level/number: level1/23.")
    private String task = "";

    @ArgGroup private Form form = new Form();

    /** Output options. */
    static final class Form {
      @Option(names = "--json", description = "Print one JSON document on stdout, nothing else.")
      private boolean json;

      @Option(
          names = "--prompt",
          description = "Markdown to give to a model: statement, signature, reference.")
      private boolean prompt;
    }

    @Option(
        names = "--grade",
        paramLabel = "GRADE",
        description =
            "What --prompt asks for: published (what the calls ask for that decide by default), or"
                + " general (all that the operation accepts). Default: published.")
    private @Nullable String grade;

    @Mixin private Options.PolicyChoice policy = new Options.PolicyChoice();
    @Mixin private Options.PrecisionChoice precision = new Options.PrecisionChoice();

    @Override
    public Integer call() {
      if (grade != null && !form.prompt) {
        throw new InputException("--grade %s: is about the prompt; add --prompt".formatted(grade));
      }
      if (policy.policy().isPresent() && !form.prompt) {
        throw new InputException("--policy: is about the prompt; add --prompt");
      }
      if (precision.precision() != ModulePrecision.FP32 && !form.prompt) {
        throw new InputException("--precision: is about the prompt; add --prompt");
      }
      Grade asked = Options.GradeChoice.parse(grade == null ? Grade.PUBLISHED.label() : grade);
      List<Task> found = suite.open().find(task);
      RunPlan.check(precision.precision(), found);
      if (form.json && found.size() > 1) throw several(found);
      Statement statement = new Statement(Prompts.bundled(Home.here().folder()));
      found.forEach(one -> System.out.println(text(one, asked, statement)));
      return ExitCode.OK;
    }

    /** Refuses several tasks with --json, which prints one document. */
    private InputException several(List<Task> found) {
      String some = found.stream().limit(NAMED).map(Task::path).collect(Collectors.joining(", "));
      return new InputException(
          "%s: means %d tasks, %s%s; with --json name one"
              .formatted(task, found.size(), some, found.size() > NAMED ? ", …" : ""));
    }

    private String text(Task found, Grade asked, Statement statement) {
      if (form.prompt) {
        Policy who = policy.policy().orElseGet(() -> Policy.usual(found));
        return statement.of(found, who, asked, precision.precision().dtype());
      }
      if (!form.json) {
        return TaskView.text(found) + "\n" + statement.policy(found, Policy.usual(found));
      }
      return Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(TaskView.of(found));
    }
  }

  /**
   * Tasks as lines in columns: category, name where the signature does not begin with it,
   * signature. On a terminal lines are cut to its width, and names to three fifths of it.
   */
  private static final class TaskTable {
    private TaskTable() {}

    static List<String> lines(List<Task> tasks) {
      int columns = Terminal.shown() ? Terminal.columns() : Integer.MAX_VALUE;
      int category = longest(tasks, Task::category);
      int name = Math.min(longest(tasks, TaskTable::name), columns / 5 * 3);
      return tasks.stream()
          .map(task -> {
            String shown = cut(name(task), name);
            String what =
                shown.isEmpty() ? task.signature() : padded(shown, name) + task.signature();
            return cut(padded(task.category(), category) + what, columns);
          })
          .toList();
    }

    /** The task's name; empty if the signature begins with it. */
    private static String name(Task task) {
      return task.signature().startsWith(task.name() + "(") ? "" : task.name();
    }

    private static int longest(List<Task> tasks, Function<Task, String> cell) {
      return tasks.stream().map(cell).mapToInt(String::length).max().orElse(0);
    }

    private static String padded(String text, int width) {
      return text + " ".repeat(width - text.length() + 2);
    }

    private static String cut(String text, int width) {
      return text.length() <= width ? text : text.substring(0, width - 1) + "…";
    }
  }
}
