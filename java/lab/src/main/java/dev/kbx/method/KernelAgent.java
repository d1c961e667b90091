package dev.kbx.method;

import dev.kbx.method.History.Outcome;
import dev.kbx.method.Next.Answer;
import dev.kbx.method.Next.Ask;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * KernelAgent's parallel workers: each begins with a kernel of its own and corrects it from what
 * the referee finds; the first correct kernel ends the work of all, or the best counts. A second
 * stage may make the kernel that won faster, see {@link Tuning}.
 *
 * <p>Where the published system accepts a kernel by a test that the model wrote, the referee's
 * development judgement decides here. If asked for, the model's test is written and shown as in the
 * published prompts.
 *
 * @param workers that work side by side
 * @param rounds each worker's kernels, its first one included
 * @param choice {@link Choice#FIRST} as published, or {@link Choice#BEST}
 * @param tuning rounds of the second stage; 0 for none
 * @param asPublished whether the model writes a test first, and a last correction is paid for that
 *     nobody judges
 */
record KernelAgent(int workers, int rounds, Choice choice, int tuning, boolean asPublished)
    implements Method {
  private static final double SEED_TEMPERATURE = 0.8;

  /** Attempts that a prompt shows. */
  private static final int SHOWN = 8;

  @Override
  public Next next(Method.Assignment assignment, History history) {
    Steps steps = new Steps(history);
    Optional<String> test = test(assignment, steps);
    if (test.isEmpty()) return steps.work();
    boolean won =
        choice == Choice.FIRST && history.judged().stream().anyMatch(Selections::isCorrect);
    for (int worker = 0; worker < workers && !won; worker++) {
      work(assignment, steps, test.get(), worker);
    }
    if (steps.areOpen()) return steps.work();
    if (tuning > 0) {
      Answer first = choice.of(history);
      Optional<Outcome> start = Optional.ofNullable(first.ask()).flatMap(history::of);
      if (start.isPresent() && Selections.isCorrect(start.get())) {
        new Tuning(assignment, steps, start.get(), tuning).run();
        if (steps.areOpen()) return steps.work();
      }
    }
    return new Next.Done(answer(assignment, history));
  }

  /** The model's test, empty text if there is none; empty while it is awaited. */
  private Optional<String> test(Method.Assignment assignment, Steps steps) {
    if (!asPublished) return Optional.of("");
    return steps
        .text(
            "a-test",
            () -> Asks.text(assignment, "a-test", "kernelagent/test", Map.of(), List.of()))
        .map(outcome -> outcome.text() == null ? "" : outcome.text());
  }

  private void work(Method.Assignment assignment, Steps steps, String test, int worker) {
    List<Outcome> own = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      String id = "worker-%d-%d".formatted(worker, round);
      boolean unjudged = asPublished && round == rounds - 1 && round > 0;
      int repeat = worker;
      Optional<Outcome> made =
          unjudged
              ? steps.text(id, () -> correcting(assignment, id, test, Asks.latest(own, SHOWN)))
              : steps.kernel(
                  id,
                  () ->
                      own.isEmpty()
                          ? seed(assignment, id, test, repeat)
                          : correcting(assignment, id, test, Asks.latest(own, SHOWN)));
      if (made.isEmpty()) return;
      own.add(made.get());
      if (Selections.isCorrect(made.get())) return;
    }
  }

  private static Ask seed(Method.Assignment assignment, String id, String test, int repeat) {
    Map<String, Object> values = new HashMap<>(Map.of("test", test));
    if (assignment.start() != null) values.put("start", assignment.start());
    return Asks.kernel(
        assignment, id, "kernelagent/seed", values, List.of(), repeat, SEED_TEMPERATURE);
  }

  /** Asks to correct the last of a worker's kernels. */
  static Ask correcting(Method.Assignment assignment, String id, String test, List<Outcome> shown) {
    Map<String, ?> values =
        Map.of("test", test, "attempts", Asks.attempts(shown), "stdout", "", "stderr", "");
    return Asks.kernel(assignment, id, "kernelagent/refine", values, shown, 0, null);
  }

  @Override
  public Answer answer(Method.Assignment assignment, History history) {
    return tuning > 0 ? Selections.best(history) : choice.of(history);
  }

  @Override
  public int mostCalls() {
    return (asPublished ? 1 : 0) + workers * rounds + tuning * Tuning.MOST_CALLS;
  }

  /**
   * KernelAgent's second stage: round after round the model says what limits the fastest correct
   * kernel, changes it accordingly, mends the change where it is wrong, and notes what it learnt.
   * Each round starts from the fastest kernel so far; several rounds in a row without a gain beyond
   * the interval end the stage.
   */
  static final class Tuning {
    /** Requests of one round: cause, kernel, corrections, reflection. */
    static final int MOST_CALLS = 6;

    private static final int CORRECTIONS = 3;
    private static final int FLAT_ROUNDS = 5;

    /** Attempts and lessons that a prompt shows. */
    private static final int SHOWN = 5;

    private final Method.Assignment assignment;
    private final Steps steps;
    private final int rounds;
    private final List<Outcome> tried = new ArrayList<>();
    private final List<String> lessons = new ArrayList<>();
    private Outcome best;

    Tuning(Method.Assignment assignment, Steps steps, Outcome start, int rounds) {
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
                      assignment,
                      name + "-reflection",
                      "kernelagent/reflect",
                      values,
                      List.of(made)))
          .map(Outcome::text)
          .flatMap(JsonReply::object)
          .map(reply -> reply.path("lesson").asString(""))
          .filter(lesson -> !lesson.isBlank())
          .ifPresent(lessons::add);
    }

    /** What the model named first; where its reply is not such an object, all that it said. */
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
}
