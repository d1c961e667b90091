package dev.kbx.prompt;

import dev.kbx.prompt.Conditions.Language;
import dev.kbx.prompt.Conditions.Shots;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Kernels that prompts show, listed in {@code examples/index.json}, the first ones first. A kernel
 * is not shown to a task of its category, nor to one that contains its operation.
 */
final class Examples {
  private static final String FOLDER = "examples/";

  private final Prompts prompts;
  private final JsonNode index;

  Examples(Prompts prompts) {
    this.prompts = prompts;
    this.index = Json.mapper().readTree(prompts.text(FOLDER + "index.json"));
  }

  /** Title, code and its fence of each example for a task. */
  List<Map<String, String>> of(Task task, Language language, Shots shots) {
    int count =
        switch (shots) {
          case ZERO -> 0;
          case ONE -> 1;
          case FEW -> 3;
        };
    return index
        .valueStream()
        .filter(example -> fits(example, task, language))
        .limit(count)
        .map(this::shown)
        .toList();
  }

  private static boolean fits(JsonNode example, Task task, Language language) {
    return example.get("language").asString().equals(language.label())
        && example.get("module").asBoolean() == task.isModule()
        && !example.get("category").asString().equals(task.category())
        && !contains(task, example.get("operation").asString());
  }

  private static boolean contains(Task task, String operation) {
    return task.name().toLowerCase(Locale.ROOT).contains(operation)
        || task.operations().stream().anyMatch(name -> name.endsWith("." + operation));
  }

  private Map<String, String> shown(JsonNode example) {
    Map<String, String> values =
        new HashMap<>(Excerpts.fenced(prompts.text(FOLDER + example.get("file").asString())));
    values.put("title", example.get("title").asString());
    return values;
  }
}
