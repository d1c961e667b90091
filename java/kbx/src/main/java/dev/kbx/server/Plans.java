package dev.kbx.server;

import dev.kbx.check.Rules;
import dev.kbx.plan.Baseline;
import dev.kbx.plan.Grade;
import dev.kbx.plan.L2State;
import dev.kbx.plan.Limits;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.plan.Plan;
import dev.kbx.plan.ServingProperty;
import dev.kbx.plan.Tolerance;
import dev.kbx.task.Policy;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Stage;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/** Plans as clients state them: the options of {@code kbx eval} in JSON. */
final class Plans {
  private static final Set<String> MEMBERS =
      new LinkedHashSet<>(
          List.of(
              "stages",
              "grade",
              "policy",
              "precision",
              "timeout",
              "baseline",
              "cache",
              "tolerance",
              "arch",
              "published_accounting",
              "memory_checks",
              "properties"));
  private static final int MOST_SECONDS = 600;

  private Plans() {}

  /** The plan of a request. Throws {@link Refusal} with a pointer into {@code /plan}. */
  static Plan of(@Nullable JsonNode given, String secret) {
    if (given != null && !given.isNull() && !given.isObject()) {
      throw Refusal.unusable("/plan", "plan: must be an object");
    }
    ObjectNode json = Json.mapper().createObjectNode();
    if (given != null) given.properties().forEach(each -> addUnlessNull(json, each));
    for (String name : json.propertyNames()) {
      if (!MEMBERS.contains(name)) {
        throw Refusal.unusable(
            "/plan",
            "plan: has no '%s'; it may have %s".formatted(cut(name), String.join(", ", MEMBERS)));
      }
    }
    Plan plan =
        new Plan(
            stages(json.get("stages")),
            Rules.all(),
            choice(json, "arch", "sm_90", Plan.ARCHITECTURES, Optional::of),
            secret,
            Limits.of(Duration.ofSeconds(timeout(json.get("timeout")))),
            choice(json, "tolerance", "model", labels(Tolerance.values()), Tolerance::of),
            choice(json, "grade", "published", labels(Grade.values()), Grade::of),
            choice(
                json, "precision", "fp32", labels(ModulePrecision.values()), ModulePrecision::of),
            json.has("policy")
                ? Optional.of(
                    choice(json, "policy", "kernel", List.of("kernel", "mixed"), Policy::of))
                : Optional.empty(),
            choice(json, "baseline", "eager", labels(Baseline.values()), Baseline::of),
            choice(json, "cache", "cold", labels(L2State.values()), L2State::of),
            false,
            isTrue(json, "published_accounting"),
            isTrue(json, "memory_checks"));
    return plan.asking(properties(json.get("properties")));
  }

  /** Null is as good as absent, as in the rest of a request. */
  private static void addUnlessNull(ObjectNode json, Map.Entry<String, JsonNode> member) {
    if (!member.getValue().isNull()) json.set(member.getKey(), member.getValue());
  }

  /** The plan in JSON; equal for equal plans. */
  static String text(Plan plan) {
    Map<String, Object> members = new TreeMap<>();
    members.put("stages", plan.stages().stream().map(Stage::label).toList());
    members.put("arch", plan.arch());
    members.put("timeout", plan.limits().call().toSeconds());
    members.put("tolerance", plan.tolerance().label());
    members.put("grade", plan.grade().label());
    members.put("precision", plan.precision().label());
    plan.policy().ifPresent(policy -> members.put("policy", policy.label()));
    members.put("baseline", plan.baseline().label());
    members.put("cache", plan.cache().label());
    members.put("published_accounting", plan.publishedAccounting());
    members.put("memory_checks", plan.memoryChecks());
    if (!plan.properties().isEmpty()) {
      members.put("properties", plan.properties().stream().map(ServingProperty::label).toList());
    }
    return Json.mapper().writeValueAsString(members);
  }

  private static List<Stage> stages(@Nullable JsonNode given) {
    if (given == null) return List.of(Stage.values());
    if (!given.isArray() || given.isEmpty()) {
      throw Refusal.unusable("/plan/stages", "plan.stages: must be a list of at least one stage");
    }
    return given.valueStream().map(Plans::stage).toList();
  }

  private static Stage stage(JsonNode given) {
    return Arrays.stream(Stage.values())
        .filter(stage -> given.isString() && stage.label().equals(given.stringValue()))
        .findFirst()
        .orElseThrow(() ->
            Refusal.unusable(
                "/plan/stages",
                "plan.stages: %s is not one of static, compile, call, correct, perf"
                    .formatted(cut(given.toString()))));
  }

  private static List<ServingProperty> properties(@Nullable JsonNode given) {
    if (given == null) return List.of();
    if (!given.isArray()) throw unknownProperty(given);
    if (given.size() == 1 && given.get(0).equals(StringNode.valueOf("all"))) {
      return List.of(ServingProperty.values());
    }
    return given.valueStream().map(Plans::property).toList();
  }

  private static ServingProperty property(JsonNode given) {
    return ServingProperty.of(given.isString() ? given.stringValue() : "")
        .orElseThrow(() -> unknownProperty(given));
  }

  private static Refusal unknownProperty(JsonNode given) {
    return Refusal.unusable(
        "/plan/properties",
        "plan.properties: %s is not a list of %s, and not [\"all\"]"
            .formatted(cut(given.toString()), String.join(", ", ServingProperty.labels())));
  }

  private static int timeout(@Nullable JsonNode given) {
    if (given == null) return 20;
    if (given.isInt() && given.intValue() >= 1 && given.intValue() <= MOST_SECONDS) {
      return given.intValue();
    }
    throw Refusal.unusable("/plan/timeout", "plan.timeout: must be 1 to 600 seconds");
  }

  /** True, too, where it is absent. */
  private static boolean isTrue(JsonNode json, String name) {
    JsonNode given = json.get(name);
    if (given == null) return true;
    if (given.isBoolean()) return given.booleanValue();
    throw Refusal.unusable("/plan/" + name, "plan.%s: must be true or false".formatted(name));
  }

  private static <T> T choice(
      JsonNode json,
      String name,
      String usual,
      List<String> known,
      Function<String, Optional<T>> of) {
    JsonNode given = json.get(name);
    String label = given == null ? usual : given.isString() ? given.stringValue() : "";
    if (known.contains(label)) return of.apply(label).orElseThrow();
    throw Refusal.unusable(
        "/plan/" + name, "plan.%s: must be one of %s".formatted(name, String.join(", ", known)));
  }

  private static List<String> labels(Enum<?>[] values) {
    return Arrays.stream(values)
        .map(each -> each.name().toLowerCase(Locale.ROOT).replace('_', '-'))
        .toList();
  }

  /** At most a few words of what a client sent. */
  static String cut(String text) {
    return text.length() <= 60 ? text : text.substring(0, 60) + "…";
  }
}
