package dev.kbx.candidate;

import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunFile;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Finds the task that a file name or a prompt means. */
final class TaskNames {
  private static final List<String> PROMPTS = List.of("instruction", "prompt", "query");
  private static final String BEFORE_DESCRIPTION = "Functional Description: ";
  private static final String BEFORE_WRAPPER = "Wrapper Entry Information:";

  /** A call's or a signature's name, maybe with its module: {@code torch.linalg.svd(}. */
  private static final Pattern NAME = Pattern.compile("([A-Za-z_][A-Za-z_0-9.]*)\\(");

  private final Suite suite;
  private final NumberedTasks numbered;

  TaskNames(Suite suite) {
    this.suite = suite;
    this.numbered = new NumberedTasks(suite);
  }

  /** A task, or why there is none. */
  sealed interface Match {
    /** The sample that the name says it is; null where it says nothing. */
    default @Nullable Integer sample() {
      return null;
    }
  }

  record Found(Task task, @Nullable Integer sample) implements Match {
    Found(Task task) {
      this(task, null);
    }
  }

  record Missing(String reason) implements Match {}

  /**
   * The task of {@code [folders/][Category/]name.py}; the category decides between equal names. A
   * {@link RunFile} has the task of its level and number.
   */
  Match ofFile(String file) {
    String[] parts = file.replace('\\', '/').split("/+", -1);
    String name = parts[parts.length - 1];
    if (name.endsWith(".py")) name = name.substring(0, name.length() - ".py".length());
    String base = name;
    List<Task> named = suite.tasks().stream().filter(t -> t.name().equals(base)).toList();
    String category = parts.length < 2 ? "" : parts[parts.length - 2];
    Optional<Task> exact = named.stream().filter(t -> t.category().equals(category)).findFirst();
    if (exact.isPresent()) return new Found(exact.get());
    if (!named.isEmpty()) return one(named, "");
    return RunFile.parse(parts[parts.length - 1])
        .map(numbered::of)
        .orElseGet(() -> new Missing(suite.unknown(base)));
  }

  /** The task of a row: by {@code file}, else by the prompt that the answer belongs to. */
  Match ofRow(JsonNode row) {
    JsonNode file = row.get("file");
    if (file != null && file.isString()) return ofFile(file.stringValue());
    for (String key : PROMPTS) {
      JsonNode prompt = row.get(key);
      if (prompt != null && prompt.isString()) return ofPrompt(key, prompt.stringValue());
    }
    return new Missing("names no task; give it \"file\": \"Category/task.py\"");
  }

  private Match ofPrompt(String key, String prompt) {
    int description = prompt.indexOf(BEFORE_DESCRIPTION);
    int wrapper = prompt.indexOf(BEFORE_WRAPPER, Math.max(0, description));
    if (description < 0 || wrapper < 0) {
      return new Missing(
          "has no \"file\", and its %s lacks '%s' or '%s'; give it \"file\": \"Category/task.py\""
              .formatted(key, BEFORE_DESCRIPTION.strip(), BEFORE_WRAPPER));
    }
    Matcher matcher =
        NAME.matcher(prompt).region(wrapper + BEFORE_WRAPPER.length(), prompt.length());
    while (matcher.find()) {
      String path = matcher.group(1);
      String name = path.substring(path.lastIndexOf('.') + 1);
      List<Task> called =
          suite.tasks().stream()
              .filter(task -> task.name().equals(name) || task.entry().equals(name))
              .toList();
      if (!called.isEmpty()) return one(called, "");
    }
    return new Missing(
        "has no \"file\", and the wrapper entry in its %s is no task's; give it \"file\""
            .formatted(key));
  }

  private static Match one(List<Task> tasks, String none) {
    return switch (tasks.size()) {
      case 0 -> new Missing(none);
      case 1 -> new Found(tasks.getFirst());
      default ->
          new Missing(
              "means several tasks, "
                  + String.join(" and ", tasks.stream().map(Task::path).toList())
                  + "; name the category as well");
    };
  }
}
