package dev.kbx.method;

import dev.kbx.method.History.Outcome;
import dev.kbx.method.Next.Answer;
import dev.kbx.method.Next.Ask;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
  public Next next(Assignment assignment, History history) {
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
  private Optional<String> test(Assignment assignment, Steps steps) {
    if (!asPublished) return Optional.of("");
    return steps
        .text(
            "a-test",
            () -> Asks.text(assignment, "a-test", "kernelagent/test", Map.of(), List.of()))
        .map(outcome -> outcome.text() == null ? "" : outcome.text());
  }

  private void work(Assignment assignment, Steps steps, String test, int worker) {
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

  private static Ask seed(Assignment assignment, String id, String test, int repeat) {
    Map<String, Object> values = new HashMap<>(Map.of("test", test));
    if (assignment.start() != null) values.put("start", assignment.start());
    return Asks.kernel(
        assignment, id, "kernelagent/seed", values, List.of(), repeat, SEED_TEMPERATURE);
  }

  /** Asks to correct the last of a worker's kernels. */
  static Ask correcting(Assignment assignment, String id, String test, List<Outcome> shown) {
    Map<String, ?> values =
        Map.of("test", test, "attempts", Asks.attempts(shown), "stdout", "", "stderr", "");
    return Asks.kernel(assignment, id, "kernelagent/refine", values, shown, 0, null);
  }

  @Override
  public Answer answer(Assignment assignment, History history) {
    return tuning > 0 ? Selections.best(history) : choice.of(history);
  }

  @Override
  public int mostCalls() {
    return (asPublished ? 1 : 0) + workers * rounds + tuning * Tuning.MOST_CALLS;
  }
}
