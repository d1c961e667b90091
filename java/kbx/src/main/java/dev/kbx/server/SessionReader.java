package dev.kbx.server;

import dev.kbx.candidate.Extraction;
import dev.kbx.generate.Budget;
import dev.kbx.generate.MethodSettings;
import dev.kbx.llm.ChatRequest.Parameters;
import dev.kbx.llm.ModelCatalog;
import dev.kbx.method.Algorithm;
import dev.kbx.method.Choice;
import dev.kbx.method.MethodOptions;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.PromptConditions;
import dev.kbx.prompt.PromptConditions.FeedbackKind;
import dev.kbx.prompt.PromptConditions.Format;
import dev.kbx.prompt.PromptConditions.History;
import dev.kbx.prompt.PromptConditions.Language;
import dev.kbx.prompt.PromptConditions.Shots;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads what sessions are asked for with. */
final class SessionReader {
  private static final List<String> CONDITIONS =
      List.of("shots", "hardware", "advice", "language", "feedback", "format");
  private static final List<String> BUDGET =
      List.of("judgements", "device_seconds", "wall_seconds");

  /** Seconds that a session may be open. */
  static final int MOST_WALL = 604_800;

  private static final int USUAL_WALL = 86_400;
  private static final int MOST_TURNS = 1_000;
  private static final int USUAL_TURNS = 10;

  private final Machine machine;
  private final String prompts;

  SessionReader(Machine machine) {
    this.machine = machine;
    this.prompts = machine.statement().prompts().version();
  }

  /**
   * A session that is asked for.
   *
   * @param run the client's name of it
   * @param start null for none
   * @param key the client's own; null for none
   */
  record Asked(
      Suite suite,
      Task task,
      String run,
      Plan plan,
      MethodSettings settings,
      @Nullable String start,
      @Nullable String key) {}

  /** Throws {@link Refusal} with a pointer to what cannot be used. */
  Asked asked(JsonNode body) {
    Suite suite =
        new SubmissionReader(machine)
            .suite(SubmissionReader.word(body, "suite", "").orElse(null), "/suite");
    String name =
        SubmissionReader.word(body, "task", "")
            .orElseThrow(() -> Refusal.unusable("/task", "task: is missing"));
    Task task = SubmissionReader.task(suite, name, "/task");
    Plan plan = Plans.of(body.get("plan"), machine.secret());
    PromptConditions conditions = conditions(object(body, "conditions", CONDITIONS), plan, task);
    String start =
        SubmissionReader.source(body, "start", "")
            .map(given -> Extraction.source(given, task).code())
            .orElse(null);
    return new Asked(
        suite,
        task,
        SubmissionReader.run(SubmissionReader.word(body, "run", "")),
        plan,
        settings(body, conditions, start),
        start,
        SubmissionReader.word(body, "key", "").orElse(null));
  }

  private MethodSettings settings(
      JsonNode body, PromptConditions conditions, @Nullable String start) {
    JsonNode budget = object(body, "budget", BUDGET);
    int turns = amount(budget, "judgements", MOST_TURNS).map(Double::intValue).orElse(USUAL_TURNS);
    return new MethodSettings(
        SubmissionReader.word(body, "method", "").orElse("session"),
        new MethodOptions(
            Algorithm.EXTERNAL,
            turns,
            1,
            0,
            one(Choice.class, body, "", "answer", Choice.BEST),
            false,
            "session"),
        SubmissionReader.word(body, "model", "").orElse(ModelCatalog.NONE),
        Parameters.defaults(),
        1,
        conditions.factors(),
        new Budget(
            null,
            null,
            null,
            null,
            amount(budget, "wall_seconds", MOST_WALL).orElse((double) USUAL_WALL),
            amount(budget, "device_seconds", MOST_WALL).orElse(null)),
        Budget.NONE,
        start == null ? null : "given",
        prompts);
  }

  private static PromptConditions conditions(JsonNode given, Plan plan, Task task) {
    String at = "/conditions";
    Language language = one(Language.class, given, at, "language", Language.TRITON);
    if (!language.allowedBy(task)) {
      throw Refusal.unusable(
          at + "/language",
          "conditions.language: %s takes Triton kernels only".formatted(task.path()));
    }
    return new PromptConditions(
        one(Shots.class, given, at, "shots", Shots.ONE),
        flag(given, at, "hardware"),
        flag(given, at, "advice"),
        language,
        one(FeedbackKind.class, given, at, "feedback", FeedbackKind.EXECUTION),
        // What is shown of earlier turns is up to the client.
        History.LAST,
        one(Format.class, given, at, "format", Format.CHAT),
        plan.grade(),
        plan.policy(task),
        plan.precision());
  }

  /** The member, which may be absent; refused if it has others than these. */
  private static JsonNode object(JsonNode body, String name, List<String> members) {
    JsonNode given = body.path(name);
    if (given.isMissingNode() || given.isNull()) return given;
    String at = "/" + name;
    if (!given.isObject()) throw Refusal.unusable(at, name + ": must be an object");
    for (String each : given.propertyNames()) {
      if (members.contains(each)) continue;
      throw Refusal.unusable(
          at,
          "%s: has no '%s'; it may have %s"
              .formatted(name, Plans.cut(each), String.join(", ", members)));
    }
    return given;
  }

  private static boolean flag(JsonNode json, String at, String name) {
    JsonNode given = json.get(name);
    if (given == null || given.isNull()) return false;
    if (given.isBoolean()) return given.booleanValue();
    throw Refusal.unusable(at + "/" + name, name + ": must be true or false");
  }

  /** A number above 0; a whole one for what is counted. */
  private static Optional<Double> amount(JsonNode json, String name, int most) {
    JsonNode given = json.get(name);
    if (given == null || given.isNull()) return Optional.empty();
    boolean counted = name.equals("judgements");
    double value = given.isNumber() ? given.doubleValue() : 0;
    if (value > 0 && value <= most && (!counted || given.isInt())) return Optional.of(value);
    throw Refusal.unusable(
        "/budget/" + name,
        "budget.%s: must be a %s above 0, at most %d"
            .formatted(name, counted ? "whole number" : "number", most));
  }

  private static <E extends Enum<E>> E one(
      Class<E> type, JsonNode json, String at, String name, E usual) {
    JsonNode given = json.get(name);
    if (given == null || given.isNull()) return usual;
    List<String> known =
        Arrays.stream(type.getEnumConstants())
            .map(each -> each.name().toLowerCase(Locale.ROOT))
            .toList();
    if (given.isString() && known.contains(given.stringValue())) {
      return Enum.valueOf(type, given.stringValue().toUpperCase(Locale.ROOT));
    }
    throw Refusal.unusable(
        at + "/" + name, "%s: must be one of %s".formatted(name, String.join(", ", known)));
  }
}
