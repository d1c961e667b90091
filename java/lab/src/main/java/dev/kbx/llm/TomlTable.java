package dev.kbx.llm;

import dev.kbx.error.InputException;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.toml.TomlMapper;

/**
 * The members of a table in TOML, each read with the type it must have. {@link #finish} refuses
 * those that nobody asked for.
 */
public final class TomlTable {
  private static final TomlMapper MAPPER = TomlMapper.builder().build();

  /** The byte order mark that some editors put before UTF-8. */
  private static final String MARK = "\ufeff";

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

  /**
   * The table that a text is.
   *
   * @param name of the file, for messages
   * @throws InputException if it is not TOML
   */
  static TomlTable parse(String name, String text) {
    return new TomlTable(name, tree(name, text));
  }

  /**
   * The tree of a text.
   *
   * @param name of the file, for messages
   * @throws InputException if it is not TOML, with its line
   */
  public static JsonNode tree(String name, String text) {
    try {
      return MAPPER.readTree(text.startsWith(MARK) ? text.substring(1) : text);
    } catch (JacksonException e) {
      var at = e.getLocation();
      String line = at == null || at.getLineNr() < 1 ? "" : ":" + at.getLineNr();
      throw new InputException(
          "%s%s: is not TOML: %s".formatted(name, line, Secrets.line(e.getOriginalMessage())));
    }
  }

  @Nullable String text(String key) {
    return value(
        key, "a text in quotes", v -> v.isString() && !v.asString().isBlank(), JsonNode::asString);
  }

  String needed(String key) {
    String value = text(key);
    if (value == null) throw invalid(key, "is missing");
    return value;
  }

  @Nullable Integer count(String key) {
    return value(
        key,
        "a whole number, 1 or more",
        v -> v.isIntegralNumber() && v.canConvertToInt() && v.asInt() >= 1,
        JsonNode::asInt);
  }

  /** A number, 0 or more. */
  @Nullable Double number(String key) {
    return value(
        key,
        "a number, 0 or more",
        v -> v.isNumber() && Double.isFinite(v.asDouble()) && v.asDouble() >= 0,
        JsonNode::asDouble);
  }

  /** A number of seconds, above 0. */
  Duration seconds(String key, Duration otherwise) {
    Double value = number(key);
    if (value == null) return otherwise;
    if (value == 0) throw invalid(key, "must be above 0");
    return Duration.ofNanos((long) (value * 1e9));
  }

  boolean flag(String key, boolean otherwise) {
    Boolean value = value(key, "true or false", JsonNode::isBoolean, JsonNode::asBoolean);
    return value == null ? otherwise : value;
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
    List<String> texts =
        value(
            key,
            "a list of texts: [\"temperature\"]",
            v -> v.isArray() && v.valueStream().allMatch(JsonNode::isString),
            v -> v.valueStream().map(JsonNode::asString).toList());
    return texts == null ? List.of() : texts;
  }

  Map<String, JsonNode> members(String key) {
    Map<String, JsonNode> members = new LinkedHashMap<>();
    JsonNode value = value(key, "a table: { top_k = 20 }", JsonNode::isObject, v -> v);
    if (value != null) value.properties().forEach(e -> members.put(e.getKey(), e.getValue()));
    return members;
  }

  /** The tables of {@code [[key]]}, in order. */
  List<JsonNode> tables(String key) {
    List<JsonNode> tables =
        value(
            key,
            "tables: [[%s]]".formatted(key),
            v -> v.isArray() && v.valueStream().allMatch(JsonNode::isObject),
            v -> v.valueStream().toList());
    return tables == null ? List.of() : tables;
  }

  void finish() {
    List<String> unknown =
        table.propertyNames().stream().filter(key -> !known.contains(key)).toList();
    if (!unknown.isEmpty()) {
      throw invalid(unknown.getFirst(), "is not a key here; known: " + String.join(", ", known));
    }
  }

  boolean has(String key) {
    return table.has(key);
  }

  InputException invalid(String key, String what) {
    return new InputException("%s: %s %s".formatted(place, key, what));
  }

  private <T> @Nullable T value(
      String key, String what, Predicate<JsonNode> right, Function<JsonNode, T> reading) {
    known.add(key);
    JsonNode value = table.get(key);
    if (value == null) return null;
    if (!right.test(value)) throw invalid(key, "must be " + what);
    return reading.apply(value);
  }
}
