package dev.kbx.server;

import dev.kbx.plan.Grade;
import dev.kbx.task.Policy;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.task.TaskView;
import dev.kbx.verdict.Json;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import org.apache.commons.codec.digest.DigestUtils;
import tools.jackson.databind.node.ObjectNode;

/** {@code /v1/suites} and {@code /v1/tasks}. */
final class TasksApi implements HttpService {
  private final Access access;
  private final Machine machine;

  TasksApi(Access access, Machine machine) {
    this.access = access;
    this.machine = machine;
  }

  @Override
  public void routing(HttpRules rules) {
    rules
        .get("/v1/suites", this::suites)
        .get("/v1/tasks", this::tasks)
        .get("/v1/tasks/{suite}/{category}/{name}", this::task)
        .get("/v1/tasks/{suite}/{category}/{name}/prompt", this::prompt);
  }

  private void suites(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    ObjectNode body = Json.mapper().createObjectNode();
    var list = body.putArray("suites");
    for (Suite suite : machine.suites().values()) {
      ObjectNode node = list.addObject();
      node.put("name", suite.name()).put("tasks", suite.tasks().size());
      var categories = node.putArray("categories");
      suite.tasks().stream().map(Task::category).distinct().forEach(categories::add);
    }
    Answers.json(response, 200, body);
  }

  private Suite suite(String name) {
    return machine
        .suite(name)
        .orElseThrow(() -> Refusal.of(404, "no suite '%s'".formatted(Plans.cut(name))));
  }

  private void tasks(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    String category = Answers.query(request, "category").orElse("");
    Suite suite =
        Answers.query(request, "suite")
            .map(this::suite)
            .orElseGet(() -> machine.suite(null).orElseThrow());
    ObjectNode body = Json.mapper().createObjectNode();
    var list = body.putArray("tasks");
    suite.tasks().stream()
        .filter(task -> category.isEmpty() || task.category().equals(category))
        .forEach(task -> list.add(view(suite, task)));
    Answers.json(response, 200, body);
  }

  /** Without its place on this machine; with the kernel that its candidates are timed beside. */
  private ObjectNode view(Suite suite, Task task) {
    ObjectNode node = Json.mapper().valueToTree(TaskView.of(task));
    node.remove("file");
    machine
        .expert(suite, task)
        .ifPresent(kernel -> node.put("expert", DigestUtils.sha256Hex(kernel)));
    return node;
  }

  private Suite suite(ServerRequest request) {
    return suite(request.path().pathParameters().get("suite"));
  }

  private Task find(ServerRequest request) {
    var path = request.path().pathParameters();
    String wanted = path.get("category") + "/" + path.get("name");
    return suite(request).tasks().stream()
        .filter(task -> task.path().equals(wanted))
        .findFirst()
        .orElseThrow(() -> Refusal.of(404, "no task '%s'".formatted(Plans.cut(wanted))));
  }

  private void task(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    Answers.json(response, 200, view(suite(request), find(request)));
  }

  private void prompt(ServerRequest request, ServerResponse response) {
    Client _ = access.require(request, Client.Scope.READ);
    Task task = find(request);
    Grade grade =
        Grade.of(Answers.query(request, "grade").orElse("published"))
            .orElseThrow(() -> Refusal.of(400, "grade: must be published or general"));
    Answers.json(
        response,
        200,
        Json.mapper()
            .createObjectNode()
            .put("suite", task.suite())
            .put("task", task.path())
            .put("grade", grade.label())
            .put("prompt", machine.statement().of(task, Policy.usual(task), grade, null)));
  }
}
