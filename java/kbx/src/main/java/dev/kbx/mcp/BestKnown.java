package dev.kbx.mcp;

import dev.kbx.mcp.Tool.Answer;
import dev.kbx.mcp.Tool.Arguments;
import dev.kbx.store.VerdictQueries;
import dev.kbx.store.VerdictQueries.Filter;
import dev.kbx.store.VerdictQueries.Order;
import dev.kbx.store.VerdictQueries.Placed;
import dev.kbx.task.Task;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Status;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/** The tool {@code best_known}. */
final class BestKnown {
  static final Tool TOOL =
      new Tool(
          "best_known",
          "Show the best verdict of a task",
          "The fastest correct kernel of a task on each device, or a correct one where none was"
              + " timed: its figures and the id of its verdict, without its source.",
          ToolBackend.Scope.READ,
          List.of(TaskTools.TASK, TaskTools.SUITE),
          BestKnown::answer);

  private BestKnown() {}

  private static Answer answer(ToolBackend backend, Arguments arguments)
      throws InterruptedException {
    Task task = TaskTools.task(backend, arguments);
    VerdictQueries queries = backend.store().queries();
    List<Placed> best = best(queries, task);
    int judged = queries.count(Filter.ofTask(task.suite(), task.category(), task.name()));
    ObjectNode object = Json.mapper().createObjectNode();
    object.put("suite", task.suite()).put("task", task.path()).put("verdicts", judged);
    var list = object.putArray("best");
    best.forEach(each -> list.add(object(each)));
    List<String> lines = new ArrayList<>();
    if (best.isEmpty()) lines.add("No correct kernel is known.");
    best.forEach(each -> lines.add(line(each)));
    lines.add("%d verdicts on %s in the store.".formatted(judged, task.path()));
    return new Answer(String.join("\n", lines), object);
  }

  /** The fastest on each device; else the newest that is correct. */
  private static List<Placed> best(VerdictQueries queries, Task task) {
    Map<String, Placed> fastest = new LinkedHashMap<>();
    for (Placed each : queries.records(task.suite(), task.category(), task.name())) {
      fastest.put(each.verdict().device().name(), each);
    }
    if (!fastest.isEmpty()) return List.copyOf(fastest.values());
    Filter correct =
        new Filter(null, task.suite(), task.category(), task.name(), Status.CORRECT, null, null);
    return queries.page(correct, Order.NEWEST, 0, 1);
  }

  private static String id(Placed placed) {
    return placed.verdict().run() + "/" + placed.position();
  }

  private static String maker(BriefVerdict verdict) {
    return Stream.of(verdict.method(), verdict.model())
        .filter(Objects::nonNull)
        .collect(Collectors.joining(" · "));
  }

  private static String line(Placed placed) {
    BriefVerdict verdict = placed.verdict();
    String fast =
        verdict.speedup() == null ? "correct, not timed" : VerdictTools.speedup(verdict.speedup());
    String maker = maker(verdict);
    return "%s on %s%s, verdict id %s"
        .formatted(
            fast, verdict.device().name(), maker.isEmpty() ? "" : ", by " + maker, id(placed));
  }

  private static ObjectNode object(Placed placed) {
    BriefVerdict verdict = placed.verdict();
    ObjectNode object = Json.mapper().createObjectNode().put("id", id(placed));
    if (!maker(verdict).isEmpty()) object.put("made_by", maker(verdict));
    object.set("device", Json.mapper().valueToTree(verdict.device()));
    if (verdict.speedup() != null) {
      object.set("speedup", Json.mapper().valueToTree(verdict.speedup()));
    }
    return object;
  }
}
