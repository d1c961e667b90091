package dev.kbx.method;

import static java.util.Comparator.comparingInt;

import dev.kbx.method.History.Outcome;
import dev.kbx.method.Next.Ask;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict.Kernel;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Evolution on islands. Each island keeps the fastest kernel of every {@link Niche}, so that
 * kernels that are built differently live on; a generation writes one kernel on each island by
 * changing a parent, by joining two of different niches, or by looking for another structure.
 * Parents are chosen by measured intervals: kernels whose intervals overlap that of the fastest are
 * as good as it. Every few generations the fastest kernel of an island is passed to the next one.
 *
 * <p>Choices are drawn from a generator that is seeded by task and step, so that a recorded history
 * leads to the same choices.
 *
 * @param islands that evolve side by side
 * @param generations kernels of each island
 */
record Evolve(int islands, int generations) implements Method {
  private static final int CROSS_EVERY = 3;
  private static final int EXPLORE_EVERY = 4;
  private static final int MIGRATE_EVERY = 3;

  /** Kernels shown beside the parent. */
  private static final int INSPIRATIONS = 2;

  /** Part of the parents that are chosen among the fastest; the others among all. */
  private static final double GREEDY = 0.7;

  @Override
  public Next next(Method.Assignment assignment, History history) {
    Steps steps = new Steps(history);
    List<Archive> archives = new ArrayList<>();
    for (int i = 0; i < islands; i++) archives.add(new Archive());
    for (int generation = 0; generation < generations; generation++) {
      List<Outcome> made = new ArrayList<>();
      for (int island = 0; island < islands; island++) {
        String id = "generation-%d-%d".formatted(generation, island);
        Archive archive = archives.get(island);
        int number = generation;
        int repeat = island;
        steps.kernel(id, () -> ask(assignment, id, archive, number, repeat)).ifPresent(made::add);
      }
      if (steps.areOpen()) return steps.work();
      for (int island = 0; island < islands; island++) archives.get(island).add(made.get(island));
      if ((generation + 1) % MIGRATE_EVERY == 0) migrate(archives);
    }
    return new Next.Done(answer(assignment, history));
  }

  private static void migrate(List<Archive> archives) {
    List<Optional<Outcome>> fastest = archives.stream().map(Archive::fastest).toList();
    for (int i = 0; i < archives.size(); i++) {
      Archive next = archives.get((i + 1) % archives.size());
      fastest.get(i).ifPresent(next::add);
    }
  }

  private static Ask ask(
      Method.Assignment assignment, String id, Archive archive, int generation, int repeat) {
    if (archive.isEmpty()) return fresh(assignment, id, List.of(), repeat);
    SplittableRandom random = new SplittableRandom((assignment.task().path() + id).hashCode());
    List<Outcome> correct = archive.correct();
    if (correct.isEmpty()) {
      return mutate(assignment, id, archive.furthest(), List.of(), repeat);
    }
    if (generation % EXPLORE_EVERY == EXPLORE_EVERY - 1) {
      return fresh(assignment, id, some(correct, null, random), repeat);
    }
    Outcome parent = parent(archive, random);
    if (generation % CROSS_EVERY == CROSS_EVERY - 1 && correct.size() > 1) {
      Outcome other = some(correct, parent, random).getFirst();
      return cross(assignment, id, parent, other, repeat);
    }
    return mutate(assignment, id, parent, some(correct, parent, random), repeat);
  }

  /** One of the fastest, as far as intervals can tell, or sometimes any. */
  private static Outcome parent(Archive archive, SplittableRandom random) {
    List<Outcome> from = random.nextDouble() < GREEDY ? archive.asFastAsAny() : archive.correct();
    return from.get(random.nextInt(from.size()));
  }

  /** A few kernels of an archive, in random order, without one of them. */
  private static List<Outcome> some(
      List<Outcome> all, @Nullable Outcome without, SplittableRandom random) {
    List<Outcome> others = new ArrayList<>(all);
    others.remove(without);
    List<Outcome> some = new ArrayList<>();
    while (!others.isEmpty() && some.size() < INSPIRATIONS) {
      some.add(others.remove(random.nextInt(others.size())));
    }
    return some;
  }

  private static Ask fresh(
      Method.Assignment assignment, String id, List<Outcome> seen, int repeat) {
    Map<String, Object> values = new HashMap<>(Map.of("inspirations", Asks.attempts(seen)));
    if (assignment.start() != null && seen.isEmpty()) values.put("start", assignment.start());
    return Asks.kernel(assignment, id, "evolve/fresh", values, seen, repeat, null);
  }

  private static Ask mutate(
      Method.Assignment assignment, String id, Outcome parent, List<Outcome> others, int repeat) {
    Map<String, ?> values =
        Map.of(
            "parent", Asks.attempt(0, parent, parent.failure()),
            "inspirations", Asks.attempts(others));
    List<Outcome> about = new ArrayList<>(List.of(parent));
    about.addAll(others);
    return Asks.kernel(assignment, id, "evolve/mutate", values, about, repeat, null);
  }

  private static Ask cross(
      Method.Assignment assignment, String id, Outcome first, Outcome second, int repeat) {
    Map<String, ?> values =
        Map.of("first", Asks.attempt(0, first, null), "second", Asks.attempt(1, second, null));
    return Asks.kernel(
        assignment, id, "evolve/cross", values, List.of(first, second), repeat, null);
  }

  @Override
  public int mostCalls() {
    return islands * generations;
  }

  /** The kernels of an island: of each niche the fastest correct one, and the last failed one. */
  private static final class Archive {
    private final Map<Niche, Outcome> fastest = new TreeMap<>();
    private final List<Outcome> failed = new ArrayList<>();

    void add(Outcome kernel) {
      if (!Selections.isCorrect(kernel)) {
        if (kernel.code() != null) failed.add(kernel);
        return;
      }
      fastest.merge(Niche.of(kernel), kernel, (known, now) -> low(now) > low(known) ? now : known);
    }

    boolean isEmpty() {
      return fastest.isEmpty() && failed.isEmpty();
    }

    /** One kernel of each niche that has one. */
    List<Outcome> correct() {
      return List.copyOf(fastest.values());
    }

    /** The correct kernel with the highest lower bound. */
    Optional<Outcome> fastest() {
      return fastest.values().stream().max(Comparator.comparingDouble(Archive::low));
    }

    /** Correct kernels whose interval reaches that of the fastest. */
    List<Outcome> asFastAsAny() {
      double most = fastest().map(Archive::low).orElse(0.0);
      return fastest.values().stream()
          .filter(kernel -> Selections.high(kernel.judgement()) >= most)
          .toList();
    }

    /** The failed kernel that came furthest, the last of equals. */
    Outcome furthest() {
      Outcome best = failed.getFirst();
      for (Outcome kernel : failed) {
        if (Selections.byMerit().compare(kernel, best) >= 0) best = kernel;
      }
      return best;
    }

    private static double low(Outcome kernel) {
      return Selections.low(kernel.judgement());
    }

    /**
     * How a kernel is built and where it stands on the roofline: kernels of different niches do not
     * displace each other.
     *
     * @param kernels distinct kernels that it launches; 3 for more
     * @param bound what bounds the task at its largest size, empty if it was not timed
     * @param quarter of that peak that it reaches, from 0; 0 if that is not known
     */
    record Niche(int kernels, String bound, int quarter) implements Comparable<Niche> {
      private static final int MANY = 3;
      private static final int QUARTERS = 4;

      static Niche of(Outcome outcome) {
        Judgement judgement = outcome.judgement();
        if (judgement == null) return new Niche(0, "", 0);
        List<Kernel> all = judgement.kernels() == null ? List.of() : judgement.kernels();
        int kernels = (int) Math.min(MANY, all.stream().map(Kernel::kernel).distinct().count());
        List<SizeTiming> sizes = judgement.sizes();
        if (sizes == null || sizes.isEmpty()) return new Niche(kernels, "", 0);
        SizeTiming largest = sizes.getLast();
        if (largest.bound() == null) return new Niche(kernels, "", 0);
        double reached = Math.max(known(largest.iou()), known(largest.mfu()));
        int quarter = Math.min(QUARTERS - 1, (int) (reached * QUARTERS));
        return new Niche(kernels, largest.bound().label(), quarter);
      }

      private static double known(@Nullable Double part) {
        return part == null ? 0 : part;
      }

      @Override
      public int compareTo(Niche other) {
        return comparingInt(Niche::kernels)
            .thenComparing(Niche::bound)
            .thenComparingInt(Niche::quarter)
            .compare(this, other);
      }
    }
  }
}
