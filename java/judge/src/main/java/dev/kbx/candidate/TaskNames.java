package dev.kbx.candidate;

import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.RunFile;
import dev.kbx.verdict.TaskNumber;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Finds the task for a file name or a prompt. A user's own reference is the task of all. */
public final class TaskNames {
  private static final List<String> PROMPTS = List.of("instruction", "prompt", "query");
  private static final String BEFORE_DESCRIPTION = "Functional Description: ";
  private static final String BEFORE_WRAPPER = "Wrapper Entry Information:";

  /** A call's or a signature's name, maybe with its module: {@code torch.linalg.svd(}. */
  private static final Pattern NAME = Pattern.compile("([A-Za-z_][A-Za-z_0-9.]*)\\(");

  private static final String RUN_FILE = "level_L_problem_P_sample_S_kernel.py";
  private static final String OWN =
      "; to judge it by a PyTorch file of your own, give --reference FILE";
  private static final Pattern LIKE_RUN_FILE = Pattern.compile("(?i)level[_-]?\\w*?[_-]problem");

  private final Suite suite;
  private final NumberedTasks numbered;
  private final @Nullable Task only;

  /** Names of the tasks of a suite. */
  public TaskNames(Suite suite) {
    this.suite = suite;
    this.numbered = new NumberedTasks(suite);
    this.only = suite.ofOwnReference().orElse(null);
  }

  /** A task, or why there is none. */
  public sealed interface Match {
    /** The sample number in the name; null if there is none. */
    default @Nullable Integer sample() {
      return null;
    }
  }

  /** The task, and the sample number in the name; null if there is none. */
  public record Found(Task task, @Nullable Integer sample) implements Match {
    Found(Task task) {
      this(task, null);
    }
  }

  /** No task, and why. */
  public record Missing(String reason) implements Match {}

  /** The name belongs to another suite. */
  public record OfSuite(String suite) implements Match {}

  /**
   * The task of {@code [folders/][Category/]name.py}; the category decides between equal names. A
   * {@link RunFile} has the task of its level and number.
   */
  public Match ofFile(String file) {
    if (only != null) return new Found(only);
    String[] parts = file.replace('\\', '/').split("/+", -1);
    String name = parts[parts.length - 1];
    if (name.endsWith(".py")) name = name.substring(0, name.length() - ".py".length());
    String base = name;
    List<Task> named = suite.tasks().stream().filter(t -> t.name().equals(base)).toList();
    String category = parts.length < 2 ? "" : parts[parts.length - 2];
    Optional<Task> exact = named.stream().filter(t -> t.category().equals(category)).findFirst();
    if (exact.isPresent()) return new Found(exact.get());
    if (!named.isEmpty()) return one(named, "");
    String last = parts[parts.length - 1];
    return RunFile.parse(last).map(numbered::of).orElseGet(() -> new Missing(unknown(last, base)));
  }

  private String unknown(String file, String base) {
    return isLikeRunFile(file)
        ? "no task and no run file is called '%s'; a run file is called %s, numbers without leading zeros"
            .formatted(base, RUN_FILE)
        : suite.unknown(base) + OWN;
  }

  /** Whether a name is that of a run file, or similar to one. */
  static boolean isLikeRunFile(String name) {
    return LIKE_RUN_FILE.matcher(name).lookingAt();
  }

  /**
   * The task of a row: by {@code file}, else by GEAK's {@code filename}, else by KernelBench's
   * {@code level} and {@code problem_id}, else by the answer's prompt.
   */
  public Match ofRow(JsonNode row) {
    if (only != null) return new Found(only);
    JsonNode file = row.get("file");
    if (file != null && file.isString()) return ofFile(file.stringValue());
    JsonNode named = row.get("filename");
    if (named != null && named.isString()) {
      Match match = ofFile(named.stringValue());
      if (match instanceof Found) return match;
    }
    Optional<TaskNumber> number = number(row);
    if (number.isPresent() && !numbered.none()) return ofNumber(number.get(), row);
    for (String key : PROMPTS) {
      JsonNode prompt = row.get(key);
      if (prompt != null && prompt.isString()) return ofPrompt(key, prompt.stringValue());
    }
    return number.isPresent()
        ? ofNumber(number.get(), row)
        : new Missing("names no task; give it " + namesOfTasks());
  }

  private static Optional<TaskNumber> number(JsonNode row) {
    Integer level = Predictions.count(row, "level");
    Integer problem = Predictions.count(row, "problem_id");
    return level == null || problem == null
        ? Optional.empty()
        : Optional.of(new TaskNumber(level, problem));
  }

  private Match ofNumber(TaskNumber number, JsonNode row) {
    return numbered.of(number, Predictions.count(row, "sample_id"));
  }

  /** Fields by which a row may name its task. */
  private String namesOfTasks() {
    return numbered.none()
        ? "\"file\": \"Category/task.py\""
        : "\"level\" and \"problem_id\", or \"file\" such as \"%s.py\""
            .formatted(suite.tasks().getFirst().path());
  }

  /**
   * The task of a session of KernelAgent: by its problem, else by a folder above it that is named
   * after a task.
   */
  public Match ofSession(Path session, String problem) {
    if (only != null) return new Found(only);
    Match match = ofPrompt(PROMPTS.getFirst(), problem);
    if (match instanceof Found) return match;
    Path above = session.toAbsolutePath().getParent();
    if (above != null && ofFile(above.toString()) instanceof Found found) return found;
    return new Missing(
        "its problem.txt names no task; put the session into a folder that is named after the task,"
            + " or give --reference");
  }

  private Match ofPrompt(String key, String prompt) {
    int description = prompt.indexOf(BEFORE_DESCRIPTION);
    int wrapper = prompt.indexOf(BEFORE_WRAPPER, Math.max(0, description));
    if (description < 0 || wrapper < 0) {
      return new Missing(
          "has no \"file\", and its %s lacks '%s' or '%s'; give it %s"
              .formatted(key, BEFORE_DESCRIPTION.strip(), BEFORE_WRAPPER, namesOfTasks()));
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
        "has no \"file\", and the wrapper entry in its %s is not that of a task; give it %s"
            .formatted(key, namesOfTasks()));
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
