package dev.kbx.llm;

import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The members of a table, each read with the type it must have. {@link #finish} refuses those that
 * nobody asked for.
 */
final class TomlTable {
  private final String place;
  private final JsonNode table;
  private final Set<String> known = new LinkedHashSet<>();

  /**
   * @param place for messages: file and table
   */
  TomlTable(String place, JsonNode table) {
    this.place = place;
    this.table = table;
  }

  @Nullable String text(String key) {
    JsonNode value = value(key, "a text in quotes", v -> v.isString() && !v.asString().isBlank());
    return value == null ? null : value.asString();
  }

  String needed(String key) {
    String value = text(key);
    if (value == null) throw invalid(key, "is missing");
    return value;
  }

  @Nullable Integer count(String key) {
    JsonNode value =
        value(
            key,
            "a whole number, 1 or more",
            v -> v.isIntegralNumber() && v.canConvertToInt() && v.asInt() >= 1);
    return value == null ? null : Integer.valueOf(value.asInt());
  }

  int count(String key, int otherwise) {
    Integer value = count(key);
    return value == null ? otherwise : value;
  }

  /** A number, 0 or more. */
  @Nullable Double number(String key) {
    JsonNode value =
        value(
            key,
            "a number, 0 or more",
            v -> v.isNumber() && Double.isFinite(v.asDouble()) && v.asDouble() >= 0);
    return value == null ? null : Double.valueOf(value.asDouble());
  }

  /** A number of seconds, above 0. */
  Duration seconds(String key, Duration otherwise) {
    Double value = number(key);
    if (value == null) return otherwise;
    if (value == 0) throw invalid(key, "must be above 0");
    return Duration.ofNanos((long) (value * 1e9));
  }

  boolean flag(String key, boolean otherwise) {
    JsonNode value = value(key, "true or false", JsonNode::isBoolean);
    return value == null ? otherwise : value.asBoolean();
  }

  /** Jackson gives a date of TOML as text, too. */
  @Nullable LocalDate date(String key) {
    String text = text(key);
    try {
      return text == null ? null : LocalDate.parse(text);
    } catch (DateTimeParseException e) {
      throw invalid(key, "must be a date: 2026-01-31");
    }
  }

  List<String> texts(String key) {
    JsonNode value =
        value(
            key,
            "a list of texts: [\"temperature\"]",
            v -> v.isArray() && v.valueStream().allMatch(JsonNode::isString));
    return value == null ? List.of() : value.valueStream().map(JsonNode::asString).toList();
  }

  Map<String, JsonNode> members(String key) {
    JsonNode value = value(key, "a table: { top_k = 20 }", JsonNode::isObject);
    Map<String, JsonNode> members = new LinkedHashMap<>();
    if (value != null) value.properties().forEach(e -> members.put(e.getKey(), e.getValue()));
    return members;
  }

  /** The tables of {@code [[key]]}, in order. */
  List<JsonNode> tables(String key) {
    JsonNode value =
        value(
            key,
            "tables: [[%s]]".formatted(key),
            v -> v.isArray() && v.valueStream().allMatch(JsonNode::isObject));
    return value == null ? List.of() : value.valueStream().toList();
  }

  void finish() {
    List<String> unknown = new ArrayList<>();
    table.propertyNames().stream().filter(key -> !known.contains(key)).forEach(unknown::add);
    if (!unknown.isEmpty()) {
      throw invalid(unknown.getFirst(), "is no key here; known: " + String.join(", ", known));
    }
  }

  boolean has(String key) {
    return table.has(key);
  }

  InvalidModels invalid(String key, String what) {
    return new InvalidModels("%s: %s %s".formatted(place, key, what));
  }

  private @Nullable JsonNode value(String key, String what, Predicate<JsonNode> right) {
    known.add(key);
    JsonNode value = table.get(key);
    if (value == null) return null;
    if (!right.test(value)) throw invalid(key, "must be " + what);
    return value;
  }
}
