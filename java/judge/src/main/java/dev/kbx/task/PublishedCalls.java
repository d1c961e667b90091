package dev.kbx.task;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What calls of the published grade ask for, for the statement of a task: what the published tests
 * pass, as {@code published.json} in the suite's folder has it. The worker decides by the same file
 * which calls are of that grade.
 */
public final class PublishedCalls {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private static final String FILE = "published.json";

  /** Tags of tasks whose tensors may be broadcast against each other. */
  private static final Set<String> BROADCASTING = Set.of("elementwise", "broadcast");

  /** Options that are sizes: any will do. As in {@code kbx.oracle.envelope}. */
  private static final Set<String> LENGTHS =
      Set.of("normalized_shape", "target_sizes", "size", "output_size", "s", "steps");

  private final Task task;
  private final JsonNode recorded;

  private PublishedCalls(Task task, JsonNode recorded) {
    this.task = task;
    this.recorded = recorded;
  }

  /** Reads the suite's file; empty where it has none: then all calls are such calls. */
  public static Optional<PublishedCalls> of(Task task) {
    Optional<Path> file = file(task);
    if (file.isEmpty()) return Optional.empty();
    try {
      JsonNode found = MAPPER.readTree(Files.readString(file.get())).get(task.path());
      return Optional.ofNullable(found).map(each -> new PublishedCalls(task, each));
    } catch (IOException | JacksonException _) {
      return Optional.empty(); // The worker says what is wrong with it.
    }
  }

  /** The file that it is read from, which decides what a task's calls ask for. */
  static Optional<Path> file(Task task) {
    return Optional.ofNullable(task.file().toAbsolutePath().getParent())
        .map(category -> category.resolveSibling(FILE))
        .filter(Files::exists);
  }

  /** The values of {@code prompts/statement/calls}. */
  public Map<String, Object> values() {
    Map<String, Object> values = new HashMap<>();
    values.put("strided", names("strided"));
    values.put("empty", names("empty"));
    values.put("one", names("one"));
    values.put("tensors", tensors());
    values.put("broadcasts", broadcasts());
    values.put("broadcast", recorded.get("broadcasts").booleanValue());
    values.put("defaults", task.signature().contains("="));
    values.put("options", options());
    return values;
  }

  /** Where a statement says nothing of broadcasting, there is nothing to take back. */
  private boolean broadcasts() {
    return !Collections.disjoint(task.tags(), BROADCASTING)
        && task.statement().contains("broadcast");
  }

  /** The tensor arguments that are so in some call: {@code `a` and `b`}; may be empty. */
  private String names(String trait) {
    return joined(
        recorded
            .get("tensors")
            .propertyStream()
            .filter(tensor -> tensor.getValue().path(trait).asBoolean(false))
            .map(tensor -> code(tensor.getKey())),
        "and");
  }

  private List<Map<String, Object>> tensors() {
    return recorded
        .get("tensors")
        .propertyStream()
        .filter(tensor -> !tensor.getKey().equals("out"))
        .map(tensor -> tensor(tensor.getKey(), tensor.getValue()))
        .toList();
  }

  private static Map<String, Object> tensor(String name, JsonNode tensor) {
    List<String> dtypes = texts(tensor.get("dtypes")).toList();
    boolean floating = dtypes.stream().anyMatch(dtype -> dtype.matches("(bfloat|float|complex).*"));
    return Map.of(
        "name", name,
        "dtypes", joined(dtypes.stream().map(PublishedCalls::code), "or"),
        "ranks", joined(texts(tensor.get("ranks")), "or"),
        "ranged", floating,
        "low", rounded(tensor.get("low").doubleValue()),
        "high", rounded(tensor.get("high").doubleValue()));
  }

  private List<Map<String, Object>> options() {
    JsonNode tensors = recorded.get("tensors");
    Set<String> omitted = Set.copyOf(texts(recorded.get("omitted")).toList());
    List<Map<String, Object>> options = new ArrayList<>();
    recorded
        .get("options")
        .propertyStream()
        .filter(option -> !LENGTHS.contains(option.getKey()))
        .forEach(option -> {
          String name = option.getKey();
          String values = values(option.getValue());
          options.add(option(name, values, tensors.has(name), omitted.contains(name)));
        });
    if (tensors.has("out")) options.add(option("out", "a tensor", false, true));
    return options;
  }

  /**
   * @param also whether it is a tensor in other calls
   */
  private static Map<String, Object> option(
      String name, String values, boolean also, boolean omitted) {
    return Map.of("name", name, "values", values, "also", also, "omitted", omitted && !also);
  }

  /** {@code `'none'` or `'tanh'`}, {@code `0.5` to `2`}, {@code a tuple of 2}. */
  private static String values(JsonNode option) {
    List<JsonNode> given = option.path("values").valueStream().toList();
    double[] numbers =
        given.stream()
            .filter(JsonNode::isNumber)
            .mapToDouble(JsonNode::doubleValue)
            .sorted()
            .toArray();
    Stream<String> range =
        switch (numbers.length) {
          case 0 -> Stream.of();
          case 1 -> Stream.of(code(rounded(numbers[0])));
          default ->
              Stream.of(
                  code(rounded(numbers[0])) + " to " + code(rounded(numbers[numbers.length - 1])));
        };
    Stream<String> words =
        given.stream()
            .filter(value -> !value.isNumber())
            .map(PublishedCalls::literal)
            .map(PublishedCalls::code);
    Stream<String> lists =
        option
            .path("lists")
            .valueStream()
            .map(list -> "a " + list.get(0).asString() + " of " + list.get(1).asInt());
    return joined(Stream.of(words, range, lists).flatMap(each -> each), "or");
  }

  /** A value as Python writes it. */
  private static String literal(JsonNode value) {
    if (value.isNull()) return "None";
    if (value.isBoolean()) return value.booleanValue() ? "True" : "False";
    String text = value.asString();
    return text.startsWith("torch.") || text.startsWith("<") ? text : "'" + text + "'";
  }

  /** Three significant digits, without a fraction where there is none. */
  private static String rounded(double number) {
    double shown = Double.parseDouble(String.format(Locale.ROOT, "%.3g", number));
    return shown == Math.rint(shown) && Math.abs(shown) < 1e15
        ? Long.toString((long) shown)
        : Double.toString(shown);
  }

  private static Stream<String> texts(JsonNode list) {
    return list.valueStream().map(JsonNode::asString);
  }

  private static String joined(Stream<String> words, String last) {
    List<String> all = words.toList();
    int end = all.size() - 1;
    return end < 1
        ? String.join("", all)
        : String.join(", ", all.subList(0, end)) + " " + last + " " + all.get(end);
  }

  private static String code(String name) {
    return "`" + name + "`";
  }
}
