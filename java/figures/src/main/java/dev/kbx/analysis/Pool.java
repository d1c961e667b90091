package dev.kbx.analysis;

import dev.kbx.analysis.Inclusion.Made;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The candidates of several runs as one set.
 *
 * @param rows the counted ones, by category, task and sample
 * @param unjudged those that kbx could not judge, or whose task failed
 * @param traits of tasks, by path
 */
record Pool(
    List<VerdictRow> rows,
    List<VerdictRow> unjudged,
    Inclusion entered,
    Map<String, SelectedRun.TaskTraits> traits) {

  /** Which rounds of an attempt count. */
  enum Rounds {
    LAST,
    ALL
  }

  /** A candidate, wherever it was judged. */
  private record Identity(
      String suite,
      String path,
      @Nullable String method,
      @Nullable String model,
      int sample,
      @Nullable Integer round,
      String candidate,
      String device) {
    static Identity of(VerdictRow row) {
      String uuid = row.device().uuid();
      return new Identity(
          row.suite(),
          row.path(),
          row.method(),
          row.model(),
          row.sample(),
          row.round(),
          row.candidate(),
          uuid == null ? row.device().name() : uuid);
    }
  }

  static Pool of(List<SelectedRun> runs, Rounds rounds) {
    Set<Identity> seen = new HashSet<>();
    List<VerdictRow> judged = new ArrayList<>();
    List<VerdictRow> unjudged = new ArrayList<>();
    Map<String, SelectedRun.TaskTraits> traits = new HashMap<>();
    int variants = 0;
    int repeated = 0;
    for (SelectedRun run : runs) {
      traits.putAll(run.traits());
      for (VerdictRow row : run.judged().rows()) {
        if (!run.asked().has(row)) variants++;
        else if (!row.judged()) unjudged.add(row);
        // A run judges each candidate once.
        else if (runs.size() == 1 || seen.add(Identity.of(row))) judged.add(row);
        else repeated++;
      }
    }
    List<VerdictRow> counted = rounds == Rounds.LAST ? last(judged) : judged;
    List<VerdictRow> sorted = Tally.sorted(counted);
    Inclusion entered =
        new Inclusion(
            runs.stream().map(run -> run.judged().run().id()).toList(),
            runs.getFirst().judged().run().suite(),
            sorted.stream().map(row -> row.device().name()).distinct().sorted().toList(),
            sorted.size(),
            Math.toIntExact(Tally.tasksOf(sorted, _ -> true)),
            CategorySizes.of(runs, sorted).total(),
            new Inclusion.LeftOut(
                unjudged.size(), variants, repeated, judged.size() - counted.size()),
            grades(runs),
            runs.stream().anyMatch(run -> run.judged().run().ofChanges()),
            Outcome.baselines(runs),
            made(sorted));
    return new Pool(sorted, unjudged, entered, traits);
  }

  private static List<String> grades(List<SelectedRun> runs) {
    return runs.stream()
        .map(run -> run.judged().run())
        .map(run -> run.published() == null ? run.grade() : "as published")
        .distinct()
        .sorted()
        .toList();
  }

  /** Rounds of one method may be runs of their own while those of another are not. */
  private static List<VerdictRow> last(List<VerdictRow> rows) {
    return MethodAndModel.group(rows).values().stream()
        .flatMap(own -> lastOfOne(own).stream())
        .toList();
  }

  private static List<VerdictRow> lastOfOne(List<VerdictRow> rows) {
    Iterations.Attempt.Reader attempts = Iterations.Attempt.Reader.of(rows);
    Map<Iterations.Attempt, Integer> latest = new HashMap<>();
    for (VerdictRow row : rows) {
      if (row.round() != null) latest.merge(attempts.of(row), row.round(), Math::max);
    }
    return rows.stream()
        .filter(
            row -> row.round() == null || Objects.equals(latest.get(attempts.of(row)), row.round()))
        .toList();
  }

  private static List<Made> made(List<VerdictRow> rows) {
    return MethodAndModel.group(rows).entrySet().stream()
        .map(entry -> made(entry.getKey(), entry.getValue()))
        .toList();
  }

  private static Made made(MethodAndModel maker, List<VerdictRow> rows) {
    Map<String, Integer> ofTask = new HashMap<>();
    for (VerdictRow row : rows) ofTask.merge(row.path(), 1, Integer::sum);
    Integer last =
        rows.stream()
            .map(VerdictRow::round)
            .filter(Objects::nonNull)
            .max(Comparator.naturalOrder())
            .orElse(null);
    return new Made(
        maker.method(),
        maker.model(),
        rows.size(),
        ofTask.size(),
        ofTask.values().stream().mapToInt(Integer::intValue).max().orElse(0),
        last);
  }
}
