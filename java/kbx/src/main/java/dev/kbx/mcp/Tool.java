package dev.kbx.mcp;

import static java.util.Objects.requireNonNull;

import dev.kbx.error.InputException;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.ToolAnnotations;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A tool: what clients are told of it, and what it does.
 *
 * @param scope that its caller needs
 */
record Tool(
    String name,
    String title,
    String description,
    ToolBackend.Scope scope,
    List<Parameter> parameters,
    Action action) {

  /** What a tool does. */
  interface Action {
    Answer call(ToolBackend backend, Arguments arguments) throws InterruptedException;
  }

  /**
   * What a tool answers. Some clients show a model the text, others the object, so that either has
   * all.
   */
  record Answer(String text, ObjectNode object) {}

  /** What an argument may be. */
  sealed interface Kind {
    record Text() implements Kind {}

    record Choice(List<String> labels) implements Kind {}

    record Count(int most) implements Kind {}
  }

  /** An argument of a tool. */
  record Parameter(String name, boolean required, Kind kind, String description) {
    static Parameter required(String name, String description) {
      return new Parameter(name, true, new Kind.Text(), description);
    }

    static Parameter text(String name, String description) {
      return new Parameter(name, false, new Kind.Text(), description);
    }

    private Map<String, Object> schema() {
      Map<String, Object> schema = new LinkedHashMap<>();
      switch (kind) {
        case Kind.Text() -> schema.put("type", "string");
        case Kind.Choice(List<String> labels) -> {
          schema.put("type", "string");
          schema.put("enum", labels);
        }
        case Kind.Count(int most) -> {
          schema.put("type", "integer");
          schema.put("minimum", 1);
          schema.put("maximum", most);
        }
      }
      schema.put("description", description);
      return schema;
    }
  }

  /** The tool as clients list it. */
  McpSchema.Tool listed() {
    Map<String, Object> properties = new LinkedHashMap<>();
    parameters.forEach(each -> properties.put(each.name(), each.schema()));
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "object");
    schema.put("properties", properties);
    schema.put(
        "required", parameters.stream().filter(Parameter::required).map(Parameter::name).toList());
    schema.put("additionalProperties", false);
    return McpSchema.Tool.builder(name, schema)
        .title(title)
        .description(description)
        .annotations(
            ToolAnnotations.builder()
                .readOnlyHint(scope != ToolBackend.Scope.SUBMIT)
                .destructiveHint(false)
                .openWorldHint(false)
                .build())
        .build();
  }

  /** Checks the arguments of a call. Throws {@link InputException}. */
  Arguments arguments(@Nullable Map<String, Object> given) {
    Map<String, Object> values = given == null ? Map.of() : given;
    for (String each : values.keySet()) {
      if (parameters.stream().noneMatch(known -> known.name().equals(each))) {
        throw new InputException(
            "%s has no argument '%s'; it has %s"
                .formatted(
                    name,
                    each,
                    String.join(", ", parameters.stream().map(Parameter::name).toList())));
      }
    }
    parameters.forEach(each -> check(each, values.get(each.name())));
    return new Arguments(values);
  }

  private static void check(Parameter parameter, @Nullable Object value) {
    if (value == null) {
      if (parameter.required()) throw new InputException(parameter.name() + ": is missing");
      return;
    }
    switch (parameter.kind()) {
      case Kind.Text() -> {
        if (value instanceof String text && !text.isEmpty() && isUnicode(text)) return;
        throw new InputException(parameter.name() + ": must be a string that is not empty");
      }
      case Kind.Choice(List<String> labels) -> {
        if (labels.contains(value)) return;
        throw new InputException(
            "%s: must be %s".formatted(parameter.name(), String.join(" or ", labels)));
      }
      case Kind.Count(int most) -> {
        if (value instanceof Integer count && count >= 1 && count <= most) return;
        throw new InputException(
            "%s: must be a whole number from 1 to %d".formatted(parameter.name(), most));
      }
    }
  }

  /** Whether UTF-8 can say it: JSON can hold half of a pair of surrogates. */
  private static boolean isUnicode(String text) {
    return text.codePoints()
        .noneMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
  }

  /** The arguments of a call, which are as the tool's parameters say. */
  record Arguments(Map<String, Object> values) {
    String text(String name) {
      return (String) requireNonNull(values.get(name));
    }

    Optional<String> optional(String name) {
      return Optional.ofNullable((String) values.get(name));
    }

    int count(String name, int usual) {
      return (Integer) values.getOrDefault(name, usual);
    }
  }
}
