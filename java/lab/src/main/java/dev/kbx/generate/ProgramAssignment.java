package dev.kbx.generate;

import dev.kbx.method.Assignment;
import dev.kbx.prompt.PromptWriter.Turn;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The first line that the program of an external method is told. */
final class ProgramAssignment {
  /** Of the lines; a change that programs notice raises it. */
  private static final int PROTOCOL = 1;

  private ProgramAssignment() {}

  static String line(Unit unit, MethodSettings settings, Assignment assignment) {
    Task task = assignment.task();
    ObjectNode node = Json.mapper().createObjectNode();
    node.put("event", "assignment").put("protocol", PROTOCOL);
    node.put("suite", task.suite()).put("task", task.path());
    node.put("entry", task.entry()).put("signature", task.signature());
    node.put("sample", unit.sample());
    node.put("model", settings.model());
    node.put("statement", assignment.writer().statementOf(task));
    ArrayNode messages = node.putArray("messages");
    for (Turn turn : assignment.writer().first(task, assignment.start())) {
      messages.addObject().put("role", turn.role()).put("text", turn.text());
    }
    if (assignment.start() != null) node.put("start", assignment.start());
    node.set("conditions", Json.mapper().valueToTree(settings.factors()));
    node.set("budget", Json.mapper().valueToTree(settings.perTask()));
    return Json.mapper().writeValueAsString(node);
  }
}
