package dev.kbx.method;

import dev.kbx.method.History.Outcome;
import dev.kbx.method.Next.Ask;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * KernelAgent's second stage: round after round the model says what limits the fastest correct
 * kernel, changes it accordingly, mends the change where it is wrong, and notes what it learnt.
 * Each round starts from the fastest kernel so far; several rounds in a row without a gain beyond
 * the interval end the stage.
 */
final class Tuning {
  /** Requests of one round: cause, kernel, corrections, reflection. */
  static final int MOST_CALLS = 6;

  private static final int CORRECTIONS = 3;
  private static final int FLAT_ROUNDS = 5;

  /** Attempts and lessons that a prompt shows. */
  private static final int SHOWN = 5;

  private final Assignment assignment;
  private final Steps steps;
  private final int rounds;
  private final List<Outcome> tried = new ArrayList<>();
  private final List<String> lessons = new ArrayList<>();
  private Outcome best;

  Tuning(Assignment assignment, Steps steps, Outcome start, int rounds) {
    this.assignment = assignment;
    this.steps = steps;
    this.best = start;
    this.rounds = rounds;
  }

  /** Walks through the rounds as far as they are known. */
  void run() {
    int flat = 0;
    for (int round = 0; round < rounds && flat < FLAT_ROUNDS; round++) {
      String before = best.ask();
      round("tuning-" + round);
      if (steps.areOpen()) return;
      flat = best.ask().equals(before) ? flat + 1 : 0;
    }
  }

  private void round(String name) {
    Map<String, ?> about = Map.of("attempt", Asks.attempt(0, best, null), "bottlenecks", 1);
    Outcome current = best;
    Optional<Outcome> said =
        steps.text(
            name + "-cause",
            () ->
                Asks.text(
                    assignment,
                    name + "-cause",
                    "kernelagent/bottleneck",
                    about,
                    List.of(current)));
    if (said.isEmpty()) return;
    Map<String, String> cause = cause(said.get().text());
    Optional<Outcome> made =
        steps.kernel(name + "-kernel", () -> optimizing(name + "-kernel", cause));
    for (int i = 0; i < CORRECTIONS && made.isPresent() && !correct(made.get()); i++) {
      String id = "%s-kernel-%d".formatted(name, i);
      tried.add(made.get());
      made =
          steps.kernel(
              id, () -> KernelAgent.correcting(assignment, id, "", Asks.latest(tried, SHOWN)));
    }
    if (made.isEmpty()) return;
    tried.add(made.get());
    reflect(name, cause, made.get());
    if (correct(made.get()) && faster(made.get())) best = made.get();
  }

  private Ask optimizing(String id, Map<String, String> cause) {
    Map<String, ?> values =
        Map.of(
            "best", Asks.attempt(0, best, null),
            "cause", cause,
            "reflections", Asks.latest(lessons, SHOWN),
            "attempts", Asks.attempts(Asks.latest(tried, SHOWN)));
    return Asks.kernel(assignment, id, "kernelagent/optimize", values, List.of(best), 0, null);
  }

  private void reflect(String name, Map<String, String> cause, Outcome made) {
    Map<String, ?> values =
        Map.of(
            "tried", String.valueOf(cause.get("fix")),
            "attempt", Asks.attempt(0, made, null));
    steps
        .text(
            name + "-reflection",
            () ->
                Asks.text(
                    assignment, name + "-reflection", "kernelagent/reflect", values, List.of(made)))
        .map(Outcome::text)
        .flatMap(JsonReply::object)
        .map(reply -> reply.path("lesson").asString(""))
        .filter(lesson -> !lesson.isBlank())
        .ifPresent(lessons::add);
  }

  /** What the model named first; where its reply is no such object, all that it said. */
  private static Map<String, String> cause(@Nullable String reply) {
    if (reply == null) return Map.of("category", "unknown", "cause", "unknown", "fix", "any");
    JsonNode first =
        JsonReply.object(reply).map(object -> object.path("bottlenecks").path(0)).orElse(null);
    if (first == null || !first.isObject()) {
      return Map.of("category", "unknown", "cause", reply, "fix", "what follows from the cause");
    }
    return Map.of(
        "category", first.path("category").asString("unknown"),
        "cause", first.path("cause").asString("unknown"),
        "fix", first.path("fix").asString("what follows from the cause"));
  }

  private static boolean correct(Outcome kernel) {
    return Selections.isCorrect(kernel);
  }

  /** Whether its interval lies above that of the best: a smaller gain may be noise. */
  private boolean faster(Outcome kernel) {
    return Selections.low(kernel.judgement()) > Selections.high(best.judgement());
  }
}
