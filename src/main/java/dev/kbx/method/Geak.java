package dev.kbx.method;

import static java.util.stream.Collectors.toCollection;

import dev.kbx.method.History.Outcome;
import dev.kbx.method.Next.Ask;
import dev.kbx.prompt.Attempt;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * GEAK's evolution with reflection: in each round a few descendants are written, judged and
 * reflected on. As soon as one is correct, or after five rounds of mending, descendants start anew,
 * from a pool of the fastest kernels if there are some; otherwise each failing one is mended from
 * its own history.
 *
 * <p>Known defects of the published code are kept only if asked for: a full pool is changed only by
 * a kernel faster than its best, which it replaces; the pool is shown best first, under a heading
 * that says otherwise; histories are chosen by a model's own score; and where a reply has no code,
 * the previous kernel is taken again.
 *
 * @param rounds number of rounds
 * @param descendants written in each round
 * @param asPublished whether those defects are kept
 */
record Geak(int rounds, int descendants, boolean asPublished) implements Method {
  /** Kernels in the pool, and attempts shown of a history. */
  private static final int KEPT = 5;

  /** Rounds of mending before descendants start anew. */
  private static final int MENDING = 5;

  /** A judged kernel with what a reflection said of it, and a model's score of it. */
  private record Reflected(Outcome kernel, String note, double score) {}

  /** What a round leaves to the next. */
  private static final class Memory {
    private final List<Reflected> pool = new ArrayList<>();
    private List<List<Reflected>> histories = new ArrayList<>();
    private int mended;

    private boolean startsAnew() {
      boolean passed =
          histories.stream()
              .filter(history -> !history.isEmpty())
              .anyMatch(history -> Selections.isCorrect(history.getLast().kernel));
      return histories.stream().allMatch(List::isEmpty) || passed || mended >= MENDING;
    }
  }

  @Override
  public Next next(Assignment assignment, History history) {
    Steps steps = new Steps(history);
    Memory memory = new Memory();
    for (int round = 0; round < rounds; round++) {
      round(assignment, steps, memory, round);
      if (steps.areOpen()) return steps.work();
    }
    return new Next.Done(answer(assignment, history));
  }

  private void round(Assignment assignment, Steps steps, Memory memory, int round) {
    boolean anew = memory.startsAnew();
    if (anew) {
      memory.mended = 0;
      memory.histories = new ArrayList<>();
      for (int i = 0; i < descendants; i++) memory.histories.add(new ArrayList<>());
    } else {
      memory.mended++;
    }
    List<Optional<Reflected>> made = new ArrayList<>();
    for (int i = 0; i < descendants; i++) {
      made.add(descendant(assignment, steps, memory, anew, round, i));
    }
    if (steps.areOpen()) return;
    for (int i = 0; i < descendants; i++) {
      if (made.get(i).isEmpty()) continue;
      Reflected one = made.get(i).get();
      memory.histories.get(i).add(one);
      if (Selections.isCorrect(one.kernel)) insert(memory.pool, one);
    }
  }

  /** One descendant of a round; empty if it has no kernel, or a step is open. */
  private Optional<Reflected> descendant(
      Assignment assignment, Steps steps, Memory memory, boolean anew, int round, int number) {
    List<Reflected> own = memory.histories.get(number);
    String name = "round-%d-%d".formatted(round, number);
    Optional<Outcome> written =
        steps.kernel(
            name + "-kernel",
            () ->
                anew
                    ? fresh(assignment, name + "-kernel", memory.pool, number)
                    : mending(assignment, name + "-kernel", own, number));
    if (written.isEmpty()) return Optional.empty();
    if (written.get().judgement() == null) {
      return asPublished && !own.isEmpty() ? Optional.of(own.getLast()) : Optional.empty();
    }
    return reflected(assignment, steps, name, written.get());
  }

  private Optional<Reflected> reflected(
      Assignment assignment, Steps steps, String name, Outcome kernel) {
    boolean correct = Selections.isCorrect(kernel);
    String template = correct ? "geak/reflect-passing" : "geak/reflect-failing";
    Map<String, ?> values = Map.of("attempt", Asks.attempt(0, kernel, null));
    Optional<Outcome> reflection =
        steps.text(
            name + "-reflection",
            () -> Asks.text(assignment, name + "-reflection", template, values, List.of(kernel)));
    double score = 0;
    if (asPublished && !correct) {
      Optional<Outcome> judged =
          steps.text(
              name + "-score",
              () -> Asks.text(assignment, name + "-score", "geak/judge", values, List.of(kernel)));
      if (judged.isEmpty()) return Optional.empty();
      score = judged.get().text() == null ? 0 : JsonReply.sum(judged.get().text());
    }
    if (reflection.isEmpty()) return Optional.empty();
    String said = reflection.get().text();
    return Optional.of(new Reflected(kernel, said == null ? "" : said, score));
  }

  private Ask fresh(Assignment assignment, String id, List<Reflected> pool, int number) {
    if (pool.isEmpty()) {
      Map<String, ?> values =
          assignment.start() == null ? Map.of() : Map.of("start", assignment.start());
      return Asks.kernel(assignment, id, "geak/fresh", values, List.of(), number, null);
    }
    List<Reflected> shown = asPublished ? pool.reversed() : pool;
    return Asks.kernel(
        assignment,
        id,
        "geak/pool",
        Map.of("pool", attempts(shown)),
        shown.stream().map(Reflected::kernel).toList(),
        number,
        null);
  }

  private Ask mending(Assignment assignment, String id, List<Reflected> own, int number) {
    List<Reflected> shown = Asks.latest(own, KEPT);
    if (asPublished) {
      shown =
          own.stream()
              .sorted(Comparator.comparingDouble(Reflected::score).reversed())
              .limit(KEPT)
              .collect(toCollection(ArrayList::new))
              .reversed();
    }
    return Asks.kernel(
        assignment,
        id,
        "geak/debug",
        Map.of("attempts", attempts(shown)),
        shown.stream().map(Reflected::kernel).toList(),
        number,
        null);
  }

  private static List<Attempt> attempts(List<Reflected> shown) {
    List<Attempt> attempts = new ArrayList<>();
    for (Reflected one : shown) {
      attempts.add(Asks.attempt(attempts.size(), one.kernel, one.note));
    }
    return attempts;
  }

  /** The pool is kept slowest first. */
  private void insert(List<Reflected> pool, Reflected one) {
    if (pool.size() == KEPT) {
      Reflected beaten = asPublished ? pool.getLast() : pool.getFirst();
      if (low(one) <= low(beaten)) return;
      pool.remove(beaten);
    }
    pool.add(one);
    pool.sort(Comparator.comparingDouble(Geak::low));
  }

  private static double low(Reflected one) {
    return Selections.low(one.kernel.judgement());
  }

  @Override
  public int mostCalls() {
    return rounds * descendants * (asPublished ? 3 : 2);
  }
}
