package dev.kbx.method;

import dev.kbx.method.Geak.GeakMemory.Reflected;
import dev.kbx.method.History.Outcome;
import dev.kbx.method.Next.Answer;
import dev.kbx.method.Next.Ask;
import dev.kbx.prompt.PromptWriter;
import java.util.ArrayList;
import java.util.Collections;
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
 * <p>Known defects of the published code are kept only if asked for:
 *
 * <ul>
 *   <li>a full pool is changed only by a kernel faster than its best, which it replaces; and the
 *       pool is shown best first, under a heading that says otherwise;
 *   <li>the model scores each new kernel by its source alone. A history, which outlives a new
 *       start, shows the five kernels of the highest scores, the highest first. A score that cannot
 *       be read leaves later descendants of the round without one;
 *   <li>where a reply has no code, the previous kernel stays: it is scored and reflected on again;
 *   <li>kernels are compared by the measured speedup, whatever its interval is.
 * </ul>
 *
 * @param rounds number of rounds
 * @param descendants written in each round
 * @param asPublished whether those defects are kept
 */
record Geak(int rounds, int descendants, boolean asPublished) implements Method {
  @Override
  public Next next(Method.Assignment assignment, History history) {
    GeakMemory memory = new GeakMemory(descendants, asPublished);
    for (int round = 0; round < rounds; round++) {
      Steps steps = new Steps(history);
      List<Optional<Reflected>> made =
          new Round(assignment, history, steps, memory, round).descendants();
      if (steps.areOpen()) return steps.work();
      memory.end(made);
    }
    return new Next.Done(answer(assignment, history));
  }

  /** One round, as far as it is known. */
  private final class Round {
    private final Method.Assignment assignment;
    private final History history;
    private final Steps steps;
    private final GeakMemory memory;
    private final int number;
    private final boolean anew;

    private Round(
        Method.Assignment assignment, History history, Steps steps, GeakMemory memory, int number) {
      this.assignment = assignment;
      this.history = history;
      this.steps = steps;
      this.memory = memory;
      this.number = number;
      this.anew = memory.begin();
    }

    private String id(int descendant, String what) {
      return "round-%d-%d-%s".formatted(number, descendant, what);
    }

    /** The descendants of the pool; empty for one that has no kernel, or while a step is open. */
    private List<Optional<Reflected>> descendants() {
      List<Optional<Outcome>> kernels = new ArrayList<>();
      for (int i = 0; i < descendants; i++) kernels.add(kernel(i));
      List<Double> scores = asPublished ? scores() : Collections.nCopies(descendants, 0.0);
      List<Optional<Reflected>> made = new ArrayList<>();
      for (int i = 0; i < descendants; i++) {
        String id = id(i, "reflection");
        double score = scores.get(i);
        made.add(
            kernels.get(i).flatMap(k -> reflection(id, k).map(s -> new Reflected(k, s, score))));
      }
      return made;
    }

    private Optional<Outcome> kernel(int descendant) {
      String id = id(descendant, "kernel");
      Optional<Outcome> written = steps.kernel(id, () -> writing(id, descendant));
      if (written.isEmpty() || written.get().judgement() != null) return written;
      return asPublished ? memory.current(descendant) : Optional.empty();
    }

    private Ask writing(String id, int descendant) {
      if (!anew) {
        List<Reflected> own = memory.history(descendant);
        Map<String, ?> values = Map.of("attempts", attempts(own), "ranked", asPublished);
        return Asks.kernel(assignment, id, "geak/debug", values, kernels(own), descendant, null);
      }
      List<Reflected> pool = memory.pool();
      if (pool.isEmpty()) {
        Map<String, ?> values =
            assignment.start() == null ? Map.of() : Map.of("start", assignment.start());
        return Asks.kernel(assignment, id, "geak/fresh", values, List.of(), descendant, null);
      }
      Map<String, ?> values = Map.of("pool", attempts(pool));
      return Asks.kernel(assignment, id, "geak/pool", values, kernels(pool), descendant, null);
    }

    private Optional<String> reflection(String id, Outcome kernel) {
      String template =
          Selections.isCorrect(kernel) ? "geak/reflect-passing" : "geak/reflect-failing";
      Map<String, ?> values = Map.of("attempt", Asks.attempt(0, kernel, null));
      return steps
          .text(id, () -> Asks.text(assignment, id, template, values, List.of(kernel)))
          .map(said -> said.text() == null ? "" : said.text());
    }

    /** A model's scores by descendant, asked for one after the other; 0 where there is none. */
    private List<Double> scores() {
      List<Double> scores = new ArrayList<>(Collections.nCopies(descendants, 0.0));
      for (int i = 0; i < descendants; i++) {
        Optional<Outcome> written = history.of(id(i, "kernel")).filter(Outcome::looked);
        if (written.isEmpty()) break;
        Optional<Outcome> scored = written.get().code() == null ? memory.current(i) : written;
        if (scored.isEmpty()) continue;
        Optional<Double> score = score(id(i, "score"), String.valueOf(scored.get().code()));
        if (score.isEmpty()) break;
        scores.set(i, score.get());
      }
      return scores;
    }

    /** Empty while it is awaited, and if it cannot be read. */
    private Optional<Double> score(String id, String code) {
      Map<String, ?> values = Map.of("attempt", new PromptWriter.Attempt(0, code, null, null));
      return steps
          .text(id, () -> Asks.text(assignment, id, "geak/judge", values, List.of()))
          .map(Outcome::text)
          .flatMap(JsonReply::sum);
    }
  }

  private static List<PromptWriter.Attempt> attempts(List<Reflected> shown) {
    List<PromptWriter.Attempt> attempts = new ArrayList<>();
    for (Reflected one : shown) {
      attempts.add(Asks.attempt(attempts.size(), one.kernel(), one.note()));
    }
    return attempts;
  }

  private static List<Outcome> kernels(List<Reflected> shown) {
    return shown.stream().map(Reflected::kernel).toList();
  }

  @Override
  public Answer answer(Method.Assignment assignment, History history) {
    return asPublished ? Selections.fastest(history) : Selections.best(history);
  }

  @Override
  public int mostCalls() {
    return rounds * descendants * (asPublished ? 3 : 2);
  }

  /** What one round of {@link Geak} leaves to the next. */
  static final class GeakMemory {
    /** Kernels in the pool, and attempts shown of a history. */
    private static final int KEPT = 5;

    /** Rounds of mending before descendants start anew. */
    private static final int MENDING = 5;

    private final boolean asPublished;

    /** The slowest first. */
    private final List<Reflected> pool = new ArrayList<>();

    /** Each descendant's attempts, oldest first. */
    private final List<List<Reflected>> histories = new ArrayList<>();

    /** Each descendant's kernel, if it has one. */
    private final List<Optional<Outcome>> current;

    private int mended;

    /**
     * A judged kernel.
     *
     * @param note what a reflection said of it
     * @param score a model's score of it
     */
    record Reflected(Outcome kernel, String note, double score) {}

    GeakMemory(int descendants, boolean asPublished) {
      this.asPublished = asPublished;
      this.current = new ArrayList<>(Collections.nCopies(descendants, Optional.empty()));
      for (int i = 0; i < descendants; i++) histories.add(new ArrayList<>());
    }

    /** Begins a round; whether descendants start anew. */
    boolean begin() {
      boolean anew = mended >= MENDING || !isMending();
      mended = anew ? 0 : mended + 1;
      if (!anew) return false;
      Collections.fill(current, Optional.empty());
      if (!asPublished) histories.forEach(List::clear);
      return true;
    }

    /** Whether there are kernels, all of them failing. */
    private boolean isMending() {
      List<Outcome> kernels = current.stream().flatMap(Optional::stream).toList();
      return !kernels.isEmpty() && kernels.stream().noneMatch(Selections::isCorrect);
    }

    /**
     * Ends a round.
     *
     * @param made by descendant; empty if it has no kernel
     */
    void end(List<Optional<Reflected>> made) {
      for (int i = 0; i < made.size(); i++) {
        if (made.get(i).isEmpty()) continue;
        Reflected one = made.get(i).get();
        current.set(i, Optional.of(one.kernel));
        histories.get(i).add(one);
        if (Selections.isCorrect(one.kernel)) insert(one);
      }
    }

    private void insert(Reflected one) {
      if (pool.size() == KEPT) {
        Reflected beaten = asPublished ? pool.getLast() : pool.getFirst();
        if (speed(one) <= speed(beaten)) return;
        pool.remove(beaten);
      }
      pool.add(one);
      pool.sort(Comparator.comparingDouble(this::speed));
    }

    private double speed(Reflected one) {
      return asPublished
          ? Selections.value(one.kernel.judgement())
          : Selections.low(one.kernel.judgement());
    }

    /** A descendant's kernel of an earlier round, if it was not started anew since. */
    Optional<Outcome> current(int descendant) {
      return current.get(descendant);
    }

    /** The pool as prompts show it. */
    List<Reflected> pool() {
      return asPublished ? pool.reversed() : List.copyOf(pool);
    }

    /** A descendant's history as prompts show it. */
    List<Reflected> history(int descendant) {
      List<Reflected> all = histories.get(descendant);
      if (!asPublished) return Asks.latest(all, KEPT);
      return all.stream()
          .sorted(Comparator.comparingDouble(Reflected::score).reversed())
          .limit(KEPT)
          .toList();
    }
  }
}
