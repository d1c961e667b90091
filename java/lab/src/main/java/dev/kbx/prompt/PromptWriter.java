package dev.kbx.prompt;

import dev.kbx.plan.Grade;
import dev.kbx.prompt.PromptConditions.Format;
import dev.kbx.prompt.PromptConditions.History;
import dev.kbx.prompt.PromptConditions.Language;
import dev.kbx.prompt.PromptConditions.Shots;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Writes the messages of requests from templates. Pure: equal arguments give equal messages. Safe
 * for several threads.
 */
public final class PromptWriter {
  /** What most templates begin with. */
  private static final String TASK = "parts/task";

  private final Prompts prompts;
  private final PromptConditions conditions;
  private final Map<String, Object> hardware;
  private final Examples examples;
  private final Statement statement;

  /** A statement is made from the task's file, which is parsed for it. */
  private final Map<Task, String> statements = new ConcurrentHashMap<>();

  /**
   * One message.
   *
   * @param role {@code system, user} or {@code assistant}
   * @param stable how many first characters all requests about the task have in common, with the
   *     message before
   */
  public record Turn(String role, String text, int stable) {}

  /**
   * A writer for runs on a device.
   *
   * @param device that kernels are judged on; for a CPU, {@code arch} may name the GPU architecture
   *     that they are compiled for
   * @param peaks of that device; where they were not measured, listed ones are shown
   */
  public PromptWriter(
      Prompts prompts, PromptConditions conditions, Verdict.Device device, MeasuredPeaks peaks) {
    this.prompts = prompts;
    this.conditions = conditions;
    this.hardware =
        conditions.hardware() ? new Hardware(prompts, device, peaks).values() : Map.of();
    this.examples = new Examples(prompts);
    this.statement = new Statement(prompts);
  }

  /** SHA-256, in hexadecimal digits, of a template and of all that it includes. */
  public String version(String template) {
    return prompts.version(template);
  }

  /** The template of {@link #first}. */
  public String firstTemplate() {
    return "single/" + form("first");
  }

  /** The template of {@link #next}. */
  public String nextTemplate() {
    return "refine/" + form("next");
  }

  private String form(String chat) {
    return conditions.format() == Format.CHAT ? chat : conditions.format().label();
  }

  /** What a model without any template is told about a task. */
  public String statementOf(Task task) {
    return statements.computeIfAbsent(task, this::statement);
  }

  /**
   * What the referee found about a kernel, as far as the conditions allow; empty if they allow
   * nothing.
   */
  public String feedback(Task task, String code, Judgement judgement) {
    return Feedback.text(task, code, judgement, conditions.feedback(), prompts).strip();
  }

  /**
   * Asks for a kernel.
   *
   * @param startingKernel to be mended or made faster; null to start from nothing
   * @throws IllegalArgumentException if the task takes no kernels in the language asked for
   */
  public List<Turn> first(Task task, @Nullable String startingKernel) {
    Map<String, Object> values = values(task);
    if (startingKernel != null) values.put("start", Feedback.Excerpts.fenced(startingKernel));
    return turns(firstTemplate(), values);
  }

  /**
   * Asks for a better kernel than the latest.
   *
   * @param attempts oldest first; what is shown of them is up to the conditions
   */
  public List<Turn> next(Task task, List<Attempt> attempts) {
    Map<String, Object> values = values(task);
    List<Attempt> shown =
        conditions.history() == History.WHOLE || attempts.isEmpty()
            ? attempts
            : attempts.subList(attempts.size() - 1, attempts.size());
    values.put("attempts", shown.stream().map(attempt -> shown(task, attempt)).toList());
    values.put("solved", !attempts.isEmpty() && isCorrect(attempts.getLast()));
    return turns(nextTemplate(), values);
  }

  /**
   * Any template.
   *
   * @param more what it needs beside the values of every task; an {@link Attempt} in it, alone or
   *     in a list, is shown by its code, outcome and feedback; {@code start} is a kernel to start
   *     from; null is nothing
   */
  public List<Turn> of(String template, Task task, Map<String, ?> more) {
    Map<String, Object> values = values(task);
    more.forEach((name, value) -> values.put(name, shown(task, value)));
    if (more.get("start") instanceof String kernel)
      values.put("start", Feedback.Excerpts.fenced(kernel));
    return turns(template, values);
  }

  private List<Turn> turns(String template, Map<String, Object> values) {
    List<Turn> turns = new ArrayList<>();
    String system = template.substring(0, template.indexOf('/') + 1) + "system";
    if (conditions.format() == Format.CHAT) {
      String used = prompts.has(system) ? system : "parts/system";
      turns.add(new Turn("system", prompts.render(used, values).strip(), 0));
    }
    String text = prompts.render(template, values).strip() + "\n";
    String common = prompts.has(TASK) ? prompts.render(TASK, values).strip() : "";
    turns.add(new Turn("user", text, text.startsWith(common) ? common.length() : 0));
    return List.copyOf(turns);
  }

  private Map<String, Object> values(Task task) {
    if (!conditions.language().allowedBy(task)) {
      throw new IllegalArgumentException(
          "%s takes kernels in Triton only, not in %s"
              .formatted(task.path(), conditions.language().title()));
    }
    Map<String, Object> values = new HashMap<>(conditions.language().flags());
    values.put("name", task.name());
    values.put("category", task.category());
    values.put("entry", task.entry());
    values.put("signature", task.signature());
    values.put("module", task.isModule());
    values.put("description", description(task));
    values.put("reference", task.reference().strip());
    values.put("policy", statement.policy(task, conditions.policy()).strip());
    values.put("statement", statements.computeIfAbsent(task, this::statement));
    values.put("advice", conditions.advice() ? advice(task) : "");
    values.put("hardware", hardware.isEmpty() ? false : hardware);
    values.put("examples", examples.of(task, conditions.language(), conditions.shots()));
    values.put("start", false);
    return values;
  }

  /** The statement alone, with what it is cast to. */
  private String description(Task task) {
    String cast = cast(task);
    return (task.statement().strip() + (cast == null ? "" : "\n" + statement.cast(cast))).strip();
  }

  private String statement(Task task) {
    String text =
        conditions.grade() == Grade.GENERAL
            ? statement.general(task, conditions.policy(), cast(task))
            : statement.published(task, conditions.policy(), cast(task));
    return text.stripTrailing();
  }

  private @Nullable String cast(Task task) {
    return task.isModule() ? conditions.precision().dtype() : null;
  }

  private String advice(Task task) {
    String own = "advice/" + task.category();
    return prompts.render(prompts.has(own) ? own : "advice/other", Map.of()).strip();
  }

  private Object shown(Task task, @Nullable Object value) {
    return switch (value) {
      case null -> "";
      case Attempt attempt -> shown(task, attempt);
      case Iterable<?> items ->
          StreamSupport.stream(items.spliterator(), false).map(item -> shown(task, item)).toList();
      case Map<?, ?> map ->
          map.entrySet().stream()
              .collect(
                  Collectors.toMap(
                      entry -> String.valueOf(entry.getKey()),
                      entry -> shown(task, entry.getValue())));
      default -> value;
    };
  }

  private Map<String, Object> shown(Task task, Attempt attempt) {
    Judgement judgement = attempt.judgement();
    Map<String, Object> values = new HashMap<>(Feedback.Excerpts.fenced(attempt.code()));
    values.put("round", attempt.round());
    values.put("found", !attempt.code().isBlank());
    values.put("correct", isCorrect(attempt));
    values.put("outcome", judgement == null ? "no_code" : judgement.status().label());
    values.put("speedup", judgement == null ? "" : Speed.speedup(judgement.speedup()));
    values.put("bound", judgement == null ? "" : Speed.bound(judgement, prompts));
    values.put("note", Feedback.Excerpts.orEmpty(attempt.note()).strip());
    values.put(
        "feedback",
        judgement == null
            ? ""
            : Feedback.text(task, attempt.code(), judgement, conditions.feedback(), prompts)
                .strip());
    return values;
  }

  private static boolean isCorrect(Attempt attempt) {
    return attempt.judgement() != null && attempt.judgement().status() == Status.CORRECT;
  }

  /**
   * Kernels that prompts show, listed in {@code examples/index.json}, the first ones first. A
   * kernel is not shown to a task of its category, nor to one that contains its operation.
   */
  private static final class Examples {
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
          new HashMap<>(
              Feedback.Excerpts.fenced(prompts.text(FOLDER + example.get("file").asString())));
      values.put("title", example.get("title").asString());
      return values;
    }
  }

  /**
   * An earlier kernel for the same task, and what the referee found on development inputs.
   *
   * @param round from 0
   * @param code empty if the reply held none
   * @param judgement null if the reply held no code
   * @param note what its author or a reflection said of it
   */
  public record Attempt(
      int round, String code, @Nullable Judgement judgement, @Nullable String note) {}
}
