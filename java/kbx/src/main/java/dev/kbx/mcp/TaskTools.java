package dev.kbx.mcp;

import dev.kbx.document.Counted;
import dev.kbx.error.InputException;
import dev.kbx.mcp.Tool.Answer;
import dev.kbx.mcp.Tool.Arguments;
import dev.kbx.mcp.Tool.Kind;
import dev.kbx.mcp.Tool.Parameter;
import dev.kbx.plan.Grade;
import dev.kbx.task.Policy;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.task.UnknownTask;
import dev.kbx.verdict.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/** The tools {@code tasks} and {@code prompt}, and what the others find tasks by. */
final class TaskTools {
  static final Parameter TASK =
      Parameter.required("task", "Task: its name, or Category/name, or level/number.");

  static final Parameter SUITE =
      Parameter.text("suite", "Suite of the task. Default: the first that has the task.");

  static final Parameter GRADE =
      new Parameter(
          "grade",
          false,
          new Kind.Choice(Arrays.stream(Grade.values()).map(Grade::label).toList()),
          "Calls that decide: those of the published tests, or whatever the operation accepts."
              + " Default: published.");

  static final List<Tool> ALL =
      List.of(
          new Tool(
              "tasks",
              "List tasks",
              "List the tasks that kernels are judged by: suite, Category/name and signature.",
              ToolBackend.Scope.READ,
              List.of(
                  Parameter.text("suite", "Only this suite. Default: all that are served."),
                  Parameter.text(
                      "filter",
                      "Only these: names or Category/name, with * and ?, separated by commas."),
                  new Parameter(
                      "limit", false, new Kind.Count(1_000), "Most tasks to list. Default: 50.")),
              TaskTools::tasks),
          new Tool(
              "prompt",
              "Show a task",
              "What a task asks for: the operation, the signature, a reference in PyTorch, the"
                  + " sizes, and what a kernel must be. Read it before you write a kernel.",
              ToolBackend.Scope.READ,
              List.of(TASK, SUITE, GRADE),
              TaskTools::prompt));

  private static final int LISTED = 50;
  private static final int NAMED = 5;

  private TaskTools() {}

  private static List<Suite> suites(ToolBackend backend, Optional<String> name)
      throws InterruptedException {
    List<Suite> all = backend.suites();
    if (name.isEmpty()) return all;
    return List.of(
        all.stream()
            .filter(each -> each.name().equals(name.get()))
            .findFirst()
            .orElseThrow(() ->
                new InputException(
                    "no suite '%s'; there are %s"
                        .formatted(
                            name.get(),
                            all.stream().map(Suite::name).collect(Collectors.joining(", "))))));
  }

  /** The tasks of a selection in each of the suites that has some. */
  private static List<Task> found(List<Suite> suites, String selection) {
    List<Task> found = new ArrayList<>();
    List<UnknownTask> without = new ArrayList<>();
    for (Suite suite : suites) {
      try {
        found.addAll(suite.find(selection));
      } catch (UnknownTask e) {
        without.add(e);
      }
    }
    if (found.isEmpty()) throw without.getFirst();
    return found;
  }

  /** The task of that name, of the first suite that has one. */
  static Task task(ToolBackend backend, Arguments arguments) throws InterruptedException {
    return task(backend, arguments.optional("suite"), arguments.text("task"));
  }

  private static Task task(ToolBackend backend, Optional<String> suite, String name)
      throws InterruptedException {
    List<Task> all = found(suites(backend, suite), name);
    List<Task> first =
        all.stream().filter(each -> each.suite().equals(all.getFirst().suite())).toList();
    if (first.size() == 1) return first.getFirst();
    throw new InputException(
        "%s: means %d tasks, %s%s; name one"
            .formatted(
                name,
                first.size(),
                first.stream().limit(NAMED).map(Task::path).collect(Collectors.joining(", ")),
                first.size() > NAMED ? ", …" : ""));
  }

  private static Answer tasks(ToolBackend backend, Arguments arguments)
      throws InterruptedException {
    List<Task> all =
        found(
            suites(backend, arguments.optional("suite")), arguments.optional("filter").orElse("*"));
    List<Task> shown = all.stream().limit(arguments.count("limit", LISTED)).toList();
    ObjectNode object = Json.mapper().createObjectNode().put("count", all.size());
    var list = object.putArray("tasks");
    StringBuilder text = new StringBuilder();
    for (Task each : shown) {
      list.addObject()
          .put("suite", each.suite())
          .put("task", each.path())
          .put("signature", each.signature());
      text.append("%s %s: %s\n".formatted(each.suite(), each.path(), each.signature()));
    }
    text.append(
        shown.size() == all.size()
            ? Counted.of(all.size(), "task")
            : "%d of %d tasks; give filter or limit".formatted(shown.size(), all.size()));
    return new Answer(text.toString(), object);
  }

  private static Answer prompt(ToolBackend backend, Arguments arguments)
      throws InterruptedException {
    Task task = task(backend, arguments);
    Grade grade = grade(arguments);
    String text = statement(backend, task, grade);
    return new Answer(
        text,
        Json.mapper()
            .createObjectNode()
            .put("suite", task.suite())
            .put("task", task.path())
            .put("grade", grade.label())
            .put("prompt", text));
  }

  static Grade grade(Arguments arguments) {
    return arguments.optional("grade").flatMap(Grade::of).orElse(Grade.PUBLISHED);
  }

  private static String statement(ToolBackend backend, Task task, Grade grade) {
    return backend.statement().of(task, Policy.usual(task), grade, null);
  }

  /**
   * The statement of a task.
   *
   * @param path {@code SUITE/Category/name}
   */
  static String statement(ToolBackend backend, String path) throws InterruptedException {
    int slash = path.indexOf('/');
    if (slash < 0) throw new InputException(path + ": must be SUITE/Category/name");
    Task task = task(backend, Optional.of(path.substring(0, slash)), path.substring(slash + 1));
    return statement(backend, task, Grade.PUBLISHED);
  }
}
