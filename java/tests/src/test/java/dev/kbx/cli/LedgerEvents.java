package dev.kbx.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The events of a ledger, as a test reads them. */
record LedgerEvents(List<JsonNode> all) {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** What may differ between two runs in which the same happens. */
  private static final Set<String> TIMES =
      Set.of("time", "seconds", "device_seconds", "attempts", "unmetered", "usage", "usd");

  /** The ledger of the only run in a results folder. */
  static LedgerEvents in(Path out) throws IOException {
    try (Stream<Path> runs = Files.list(out.resolve("runs"))) {
      List<Path> all = runs.toList();
      if (all.size() != 1) throw new AssertionError("runs: " + all);
      return read(all.getFirst().resolve("ledger.jsonl"));
    }
  }

  static LedgerEvents read(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file);
    return new LedgerEvents(lines.stream().skip(1).map(JSON::readTree).toList());
  }

  Stream<JsonNode> of(String event) {
    return all.stream().filter(line -> line.path("event").asString().equals(event));
  }

  long count(String event) {
    return of(event).count();
  }

  /** Method, task and sample. */
  static String unit(JsonNode line) {
    return "%s, %s, %d"
        .formatted(
            line.path("method").asString(),
            line.path("task").asString(),
            line.path("sample").asInt());
  }

  /** Compares trajectory by trajectory. */
  void assertSameAs(LedgerEvents expected) {
    Map<String, List<String>> mine = byUnit();
    Map<String, List<String>> other = expected.byUnit();
    assertThat(mine.keySet()).isEqualTo(other.keySet());
    mine.forEach(
        (unit, events) -> assertThat(events).as(unit).containsExactlyElementsOf(other.get(unit)));
  }

  /**
   * Every event by trajectory, without times and charges, and without what a kill adds: the line
   * that says so, and a prompt with its feedback that is repeated.
   */
  private Map<String, List<String>> byUnit() {
    Map<String, List<String>> byUnit = new TreeMap<>();
    for (JsonNode line : all) {
      String event = line.path("event").asString();
      if (event.equals("lost")) continue;
      List<String> known = byUnit.computeIfAbsent(unit(line), _ -> new ArrayList<>());
      String text = without(line.deepCopy()).toString();
      boolean repeatable = event.equals("prompt") || event.equals("feedback");
      if (!repeatable || !known.contains(text)) known.add(text);
    }
    return byUnit.entrySet().stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey,
                e -> e.getValue().stream().sorted().toList(),
                (one, _) -> one,
                TreeMap::new));
  }

  private static JsonNode without(JsonNode node) {
    if (node instanceof ObjectNode object) object.remove(TIMES);
    node.forEach(LedgerEvents::without);
    return node;
  }
}
