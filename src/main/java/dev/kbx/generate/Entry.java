package dev.kbx.generate;

import dev.kbx.method.Event;
import dev.kbx.verdict.Json;
import java.time.Instant;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A line of a ledger: what happened, where and when. */
record Entry(Instant time, Unit unit, Event event) {
  private static final String TIME = "time";
  private static final String METHOD = "method";
  private static final String TASK = "task";
  private static final String SAMPLE = "sample";

  /** One JSON object, flat, without a line break. */
  String line() {
    ObjectNode line = Json.mapper().createObjectNode();
    line.put(TIME, time.toString());
    line.put(METHOD, unit.method());
    line.put(TASK, unit.task());
    line.put(SAMPLE, unit.sample());
    line.setAll((ObjectNode) Json.mapper().valueToTree(event));
    return Json.mapper().writeValueAsString(line);
  }

  /** Reads what {@link #line} wrote. */
  static Entry of(JsonNode line) {
    return new Entry(
        Instant.parse(line.path(TIME).stringValue()),
        new Unit(
            line.path(METHOD).stringValue(),
            line.path(TASK).stringValue(),
            line.path(SAMPLE).intValue()),
        Json.mapper().treeToValue(line, Event.class));
  }
}
