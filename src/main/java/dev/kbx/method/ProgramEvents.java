package dev.kbx.method;

import dev.kbx.method.History.Outcome;
import dev.kbx.prompt.PromptWriter;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** What came of a prompt or a candidate, as lines for an external program. */
final class ProgramEvents {
  private ProgramEvents() {}

  static List<String> of(Assignment assignment, Outcome outcome) {
    List<String> lines = new ArrayList<>();
    if (outcome.failure() != null) {
      lines.add(line(event("no_reply", outcome).put("message", outcome.failure())));
    }
    if (outcome.text() != null)
      lines.add(line(event("reply", outcome).put("text", outcome.text())));
    if (outcome.text() != null && outcome.extracted()) {
      lines.add(line(event("extraction", outcome).put("code", outcome.code())));
    }
    if (outcome.judgement() != null) lines.add(judgement(assignment, outcome, outcome.judgement()));
    return lines;
  }

  private static ObjectNode event(String name, Outcome outcome) {
    return Json.mapper().createObjectNode().put("event", name).put("id", outcome.ask());
  }

  private static String judgement(Assignment assignment, Outcome outcome, Judgement found) {
    ObjectNode node = event("judgement", outcome);
    node.put("correct", Selections.isCorrect(outcome));
    node.put("status", found.status().label());
    if (found.speedup() != null) node.set("speedup", Json.mapper().valueToTree(found.speedup()));
    PromptWriter writer = assignment.writer();
    String feedback = writer.feedback(assignment.task(), String.valueOf(outcome.code()), found);
    if (!feedback.isEmpty()) {
      node.put("feedback", feedback);
      node.set("judgement", Json.mapper().valueToTree(found));
    }
    return line(node);
  }

  private static String line(ObjectNode node) {
    return Json.mapper().writeValueAsString(node);
  }
}
