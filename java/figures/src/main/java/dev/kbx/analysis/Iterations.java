package dev.kbx.analysis;

import dev.kbx.stats.Median;
import dev.kbx.stats.PairedShares;
import dev.kbx.stats.PassAtK;
import dev.kbx.stats.Quantile;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.NoiseFloor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What rounds of refinement gain, for each method and model with several rounds.
 *
 * @param singles independent samples of the other methods, to compare with as many rounds
 */
public record Iterations(Inclusion entered, List<OfMethod> methods, List<Singles> singles) {

  /**
   * The attempts of one method and model.
   *
   * @param method null if not stated, as is {@code model}
   * @param attempts number of samples with any round, over all tasks
   * @param tasks number of tasks with one: what shares are of
   * @param asked number of tasks asked for; null of published changes alone, which have no shares
   */
  public record OfMethod(
      @Nullable String method,
      @Nullable String model,
      int attempts,
      int tasks,
      @Nullable Integer asked,
      List<Round> rounds,
      List<Step> steps) {}

  /**
   * One round.
   *
   * @param candidates number of judged ones
   * @param general correct at the general grade; null if that is unknown of one
   * @param solved attempts that are correct in this or an earlier round
   * @param share mean over the tasks tried of the share of a task's attempts that are solved; null
   *     of published changes alone
   * @param low lower end of its 95 % interval, as that of a {@link TaskShare}
   * @param speed of the correct, timed ones; null if there is none
   */
  public record Round(
      int round,
      int candidates,
      int called,
      int correct,
      @Nullable Integer general,
      int solved,
      @Nullable Double share,
      @Nullable Double low,
      @Nullable Double high,
      @Nullable Means speed) {}

  /**
   * pass@k of samples that do not build on each other: what as many rounds compare with.
   *
   * @param tasks number of tasks with k samples or more
   */
  public record Singles(
      @Nullable String method, @Nullable String model, int k, int tasks, double value) {}

  /**
   * Analyses the attempts in all runs.
   *
   * @param floors measured noise floors of the devices
   * @throws IncomparableRuns if nothing has two rounds, or the correctness stage was not requested
   */
  public static Iterations of(SelectedRuns runs, List<NoiseFloor> floors) {
    for (SelectedRun run : runs.runs()) {
      String why = Outcome.CORRECT.unmeasured(run.judged());
      if (why != null) {
        throw new IncomparableRuns("run %s: %s".formatted(run.judged().run().id(), why));
      }
    }
    Pool pool = runs.pool(Pool.Rounds.ALL);
    List<OfMethod> methods = new ArrayList<>();
    List<List<VerdictRow>> others = new ArrayList<>();
    int most = 0;
    Map<MethodAndModel, List<VerdictRow>> unjudged = MethodAndModel.group(pool.unjudged());
    for (List<VerdictRow> rows : MethodAndModel.group(pool.rows()).values()) {
      int rounds = rounds(rows).size();
      List<VerdictRow> missing =
          unjudged.getOrDefault(MethodAndModel.of(rows.getFirst()), List.of());
      if (rounds < 2) others.add(rows);
      else methods.add(of(rows, missing, pool.entered(), floors));
      most = Math.max(most, rounds);
    }
    if (methods.isEmpty()) {
      throw new IncomparableRuns(
          "no rounds in run %s: no method has candidates of two ('round' in predictions). Of a run of methods judge every kernel that was written: 'kbx export predictions DIR --rounds', 'kbx eval DIR/predictions.jsonl', 'kbx analyze iterations'"
              .formatted(String.join(", ", pool.entered().runs())));
    }
    List<Singles> singles = new ArrayList<>();
    for (List<VerdictRow> rows : others) singles.addAll(singles(rows, most));
    return new Iterations(pool.entered(), methods, singles);
  }

  /** Whether they have something to analyse: a method with two rounds, judged for correctness. */
  public static boolean haveRounds(SelectedRuns runs) {
    return Outcome.CORRECT.unmeasuredIn(runs) == null
        && MethodAndModel.group(runs.pool(Pool.Rounds.ALL).rows()).values().stream()
            .anyMatch(rows -> rounds(rows).size() > 1);
  }

  private static SortedSet<Integer> rounds(List<VerdictRow> rows) {
    SortedSet<Integer> rounds = new TreeSet<>();
    for (VerdictRow row : rows) if (row.round() != null) rounds.add(row.round());
    return rounds;
  }

  private static OfMethod of(
      List<VerdictRow> rows,
      List<VerdictRow> unjudged,
      Inclusion entered,
      List<NoiseFloor> floors) {
    Attempt.Reader reader =
        Attempt.Reader.of(Stream.concat(rows.stream(), unjudged.stream()).toList());
    Map<Attempt, Set<Integer>> missing = new HashMap<>();
    for (VerdictRow row : unjudged) {
      if (row.round() == null) continue;
      missing.computeIfAbsent(reader.of(row), _ -> new HashSet<>()).add(row.round());
    }
    Map<Attempt, Map<Integer, VerdictRow>> attempts = new LinkedHashMap<>();
    for (VerdictRow row : rows) {
      if (row.round() == null) continue;
      attempts.computeIfAbsent(reader.of(row), _ -> new TreeMap<>()).putIfAbsent(row.round(), row);
    }
    int tried = Math.toIntExact(Tally.tasksOf(rows, row -> row.round() != null));
    Integer asked = entered.ofChanges() ? null : (Integer) Math.max(entered.asked(), tried);
    List<Integer> numbers = List.copyOf(rounds(rows));
    List<Map<Integer, VerdictRow>> all = List.copyOf(attempts.values());
    List<Step> steps = new ArrayList<>();
    for (int i = 1; i < numbers.size(); i++) {
      Step step = Step.of(attempts, missing, numbers.get(i - 1), numbers.get(i), floors);
      steps.add(entered.ofChanges() ? step.ofChanges() : step);
    }
    return new OfMethod(
        rows.getFirst().method(),
        rows.getFirst().model(),
        attempts.size(),
        tried,
        asked,
        numbers.stream().map(number -> round(all, number, asked)).toList(),
        steps);
  }

  private static Round round(
      List<Map<Integer, VerdictRow>> attempts, int number, @Nullable Integer asked) {
    List<VerdictRow> rows =
        attempts.stream().map(attempt -> attempt.get(number)).filter(Objects::nonNull).toList();
    Map<String, int[]> tasks = new LinkedHashMap<>();
    int solved = 0;
    for (Map<Integer, VerdictRow> attempt : attempts) {
      String path = attempt.values().iterator().next().path();
      int[] counts = tasks.computeIfAbsent(path, _ -> new int[2]);
      counts[0]++;
      if (isSolved(attempt, number)) {
        counts[1]++;
        solved++;
      }
    }
    TaskShare share = asked == null ? null : TaskShare.of(tasks.values());
    Grades.GeneralRate general = Grades.GeneralRate.of(rows);
    return new Round(
        number,
        rows.size(),
        (int) rows.stream().filter(VerdictRow::called).count(),
        (int) rows.stream().filter(Iterations::isCorrect).count(),
        general == null ? null : general.correct(),
        solved,
        share == null ? null : (Double) share.value(),
        share == null ? null : (Double) share.low(),
        share == null ? null : (Double) share.high(),
        Means.of(speedups(rows)));
  }

  private static boolean isSolved(Map<Integer, VerdictRow> attempt, int round) {
    return attempt.entrySet().stream()
        .anyMatch(e -> e.getKey() <= round && isCorrect(e.getValue()));
  }

  static boolean isCorrect(VerdictRow row) {
    return Objects.equals(Outcome.CORRECT.of(row), true);
  }

  static List<Double> speedups(List<VerdictRow> rows) {
    List<Double> values = new ArrayList<>();
    for (VerdictRow row : rows) {
      var speedup = row.correctSpeedup();
      if (speedup != null) values.add(speedup.value());
    }
    return values;
  }

  /** pass@k for each k up to the number of rounds. */
  private static List<Singles> singles(List<VerdictRow> rows, int rounds) {
    Map<String, List<VerdictRow>> tasks = new LinkedHashMap<>();
    for (VerdictRow row : rows) tasks.computeIfAbsent(row.path(), _ -> new ArrayList<>()).add(row);
    List<PassAtK> all =
        tasks.values().stream()
            .map(own ->
                new PassAtK(own.size(), (int) own.stream().filter(Iterations::isCorrect).count()))
            .toList();
    VerdictRow any = rows.getFirst();
    List<Singles> singles = new ArrayList<>();
    for (int k = 1; k <= rounds; k++) {
      int needed = k;
      List<PassAtK> entered = all.stream().filter(task -> task.samples() >= needed).toList();
      if (entered.isEmpty()) break;
      singles.add(
          new Singles(any.method(), any.model(), k, entered.size(), PassAtK.mean(entered, k)));
    }
    return singles;
  }

  /**
   * Each kind of mean of some speedups, as published figures often do not say which theirs is. Only
   * the geometric mean is one of ratios: see {@link Ratio}.
   *
   * @param candidates number of speedups
   */
  public record Means(int candidates, double geometric, double arithmetic, double median) {

    /** Null without speedups. */
    static @Nullable Means of(List<Double> speedups) {
      if (speedups.isEmpty()) return null;
      double[] values = speedups.stream().mapToDouble(Double::doubleValue).toArray();
      return new Means(
          values.length,
          Ratio.geometricMean(values),
          Arrays.stream(values).average().orElseThrow(),
          Median.of(values));
    }
  }

  /**
   * The change from one round to the next.
   *
   * @param both attempts with a judged candidate in both rounds: the sum of the next four counts
   * @param endedCorrect attempts without a candidate in the second round, correct in the first
   * @param endedWrong the same, wrong in the first
   * @param notJudged attempts of which kbx could not judge one of both rounds
   * @param compared the earlier round with the later one, by the share of a task's attempts that
   *     are correct
   * @param speed null if no correct candidate of either round is timed
   */
  public record Step(
      int from,
      int to,
      int both,
      int rescued,
      int regressed,
      int persistent,
      int unresolved,
      int endedCorrect,
      int endedWrong,
      int notJudged,
      PairedTasks compared,
      @Nullable Speed speed) {

    static Step of(
        Map<Attempt, Map<Integer, VerdictRow>> attempts,
        Map<Attempt, Set<Integer>> unjudged,
        int from,
        int to,
        List<NoiseFloor> floors) {
      Map<TaskOutcomes.Transition, List<Pairs.Pair>> pairs =
          new EnumMap<>(TaskOutcomes.Transition.class);
      List<VerdictRow> ended = new ArrayList<>();
      int notJudged = 0;
      for (var each : attempts.entrySet()) {
        VerdictRow then = each.getValue().get(from);
        VerdictRow now = each.getValue().get(to);
        if (then == null || now == null) {
          Set<Integer> missing = unjudged.getOrDefault(each.getKey(), Set.of());
          if (missing.contains(then == null ? from : to)) notJudged++;
          else if (then != null) ended.add(then);
          continue;
        }
        TaskOutcomes.Transition change =
            TaskOutcomes.Transition.of(Iterations.isCorrect(then), Iterations.isCorrect(now));
        pairs.computeIfAbsent(change, _ -> new ArrayList<>()).add(new Pairs.Pair(then, now));
      }
      int stopped = (int) ended.stream().filter(Iterations::isCorrect).count();
      return new Step(
          from,
          to,
          pairs.values().stream().mapToInt(List::size).sum(),
          count(pairs, TaskOutcomes.Transition.RESCUED),
          count(pairs, TaskOutcomes.Transition.REGRESSED),
          count(pairs, TaskOutcomes.Transition.PERSISTENT),
          count(pairs, TaskOutcomes.Transition.UNRESOLVED),
          stopped,
          ended.size() - stopped,
          notJudged,
          PairedTasks.of(tasks(pairs.values().stream().flatMap(List::stream).toList())),
          Speed.of(pairs, floors));
    }

    /**
     * This step without what only all persistent attempts would tell: of those that are there,
     * something changed.
     */
    Step ofChanges() {
      return new Step(
          from,
          to,
          both,
          rescued,
          regressed,
          persistent,
          unresolved,
          endedCorrect,
          endedWrong,
          notJudged,
          compared,
          speed == null ? null : speed.ofChanges());
    }

    private static List<PairedShares.Task> tasks(List<Pairs.Pair> pairs) {
      Map<String, List<Pairs.Pair>> tasks = new LinkedHashMap<>();
      for (Pairs.Pair pair : pairs) {
        tasks.computeIfAbsent(pair.now().path(), _ -> new ArrayList<>()).add(pair);
      }
      return tasks.values().stream()
          .map(own ->
              new PairedShares.Task(
                  (int) own.stream().filter(pair -> isCorrect(pair.then())).count(),
                  own.size(),
                  (int) own.stream().filter(pair -> isCorrect(pair.now())).count(),
                  own.size()))
          .toList();
    }

    private static int count(
        Map<TaskOutcomes.Transition, List<Pairs.Pair>> pairs, TaskOutcomes.Transition change) {
      return pairs.getOrDefault(change, List.of()).size();
    }
  }

  /**
   * Speed from one round to the next, of the attempts with a candidate in both. A mean over the
   * correct candidates of a round also moves because others are correct; so persistent attempts are
   * matched with themselves, and a candidate with the same source in both rounds never counts as a
   * change: what its speedup moves by is noise.
   *
   * @param rescued level of those that became correct, in the later round
   * @param persistent level of those that are correct in both, in the later round
   * @param then level of all correct in the earlier round
   * @param now level of all correct in the later round
   * @param change geometric mean of now ÷ then over persistent attempts, sources unchanged or not;
   *     null of published changes alone, as are the next and {@code changed}
   * @param composition {@code now ÷ then} of the geometric means over that: because others are
   *     correct
   * @param matched persistent attempts timed in both rounds over the same sizes, on one device,
   *     against one baseline, or with two published speedups
   * @param unmatched the other persistent attempts that are timed
   * @param identical matched attempts with the same source in both rounds
   * @param floor 95 % of these move by less, 0.01 for 1 %; null without any
   * @param increases matched attempts with a larger speedup, by however little
   * @param identicalIncreases those of them with the same source
   * @param largest largest relative gain of a source that changed, 0.01 for 1 %; null if none
   *     gained
   * @param gains changed sources by least gain: how many gain so much
   * @param faster changed sources that are faster, beyond the intervals and the floors
   * @param slower the same, slower
   * @param changed geometric mean of now ÷ then of changed sources, with its interval; null without
   *     any
   * @param asPublished matched attempts whose speedups are as published: without intervals and
   *     sizes, none of them is faster or slower
   */
  public record Speed(
      @Nullable Means rescued,
      @Nullable Means persistent,
      @Nullable Means then,
      @Nullable Means now,
      @Nullable Double change,
      @Nullable Double composition,
      int matched,
      int unmatched,
      int identical,
      @Nullable Double floor,
      int increases,
      int identicalIncreases,
      @Nullable Double largest,
      Map<String, Integer> gains,
      int faster,
      int slower,
      Portability.@Nullable Mean changed,
      int asPublished) {
    private static final double MOST = 0.95;

    private record Change(Comparison.SpeedChange measured, double value, boolean same) {}

    /** Null if nothing is timed. */
    static @Nullable Speed of(
        Map<TaskOutcomes.Transition, List<Pairs.Pair>> pairs, List<NoiseFloor> floors) {
      List<Pairs.Pair> rescued = pairs.getOrDefault(TaskOutcomes.Transition.RESCUED, List.of());
      List<Pairs.Pair> regressed = pairs.getOrDefault(TaskOutcomes.Transition.REGRESSED, List.of());
      List<Pairs.Pair> persistent =
          pairs.getOrDefault(TaskOutcomes.Transition.PERSISTENT, List.of());
      Means then = level(Stream.concat(persistent.stream(), regressed.stream()), false);
      Means now = level(Stream.concat(persistent.stream(), rescued.stream()), true);
      if (then == null && now == null) return null;
      List<Change> changes = new ArrayList<>();
      int unmatched = 0;
      for (Pairs.Pair pair : persistent) {
        Comparison.SpeedChange change = Comparison.SpeedChange.of(pair.then(), pair.now(), floors);
        if (change == null) continue;
        Double value = change.value();
        if (value == null) unmatched++;
        else changes.add(new Change(change, value, pair.sameSource()));
      }
      Double floor = floor(changes);
      List<Change> others = changes.stream().filter(each -> !each.same()).toList();
      Double mean = changes.isEmpty() ? null : Ratio.geometricMean(values(changes));
      return new Speed(
          level(rescued.stream(), true),
          level(persistent.stream(), true),
          then,
          now,
          mean,
          mean == null || then == null || now == null || unmatched > 0
              ? null
              : now.geometric() / then.geometric() / mean,
          changes.size(),
          unmatched,
          changes.size() - others.size(),
          floor,
          increases(changes),
          increases(changes) - increases(others),
          largest(others),
          Map.of(
              "1%",
              gaining(others, 1.01), "5%", gaining(others, 1.05), "10%", gaining(others, 1.1)),
          differing(others, Comparison.SpeedChange.Outcome.FASTER, floor),
          differing(others, Comparison.SpeedChange.Outcome.SLOWER, floor),
          others.isEmpty() ? null : Portability.Mean.of(values(others)),
          (int)
              changes.stream()
                  .filter(change ->
                      change.measured().outcome() == Comparison.SpeedChange.Outcome.AS_PUBLISHED)
                  .count());
    }

    private Speed ofChanges() {
      return new Speed(
          rescued,
          persistent,
          then,
          now,
          null,
          null,
          matched,
          unmatched,
          identical,
          floor,
          increases,
          identicalIncreases,
          largest,
          gains,
          faster,
          slower,
          null,
          asPublished);
    }

    private static @Nullable Means level(Stream<Pairs.Pair> pairs, boolean later) {
      return Means.of(
          Iterations.speedups(pairs.map(pair -> later ? pair.now() : pair.then()).toList()));
    }

    private static @Nullable Double floor(List<Change> changes) {
      double[] moves =
          changes.stream()
              .filter(Change::same)
              .mapToDouble(change -> Math.abs(Math.log(change.value())))
              .toArray();
      return moves.length == 0 ? null : Math.expm1(Quantile.of(moves, MOST));
    }

    private static double[] values(List<Change> changes) {
      return changes.stream().mapToDouble(Change::value).toArray();
    }

    private static int increases(List<Change> changes) {
      return (int) changes.stream().filter(change -> change.value() > 1).count();
    }

    private static int gaining(List<Change> changes, double least) {
      return (int) changes.stream().filter(change -> change.value() >= least).count();
    }

    private static @Nullable Double largest(List<Change> changes) {
      double largest = changes.stream().mapToDouble(Change::value).max().orElse(1);
      return largest > 1 ? largest - 1 : null;
    }

    private static int differing(
        List<Change> changes, Comparison.SpeedChange.Outcome outcome, @Nullable Double floor) {
      double least = floor == null ? 0 : Math.log1p(floor);
      return (int)
          changes.stream()
              .filter(change -> change.measured().outcome() == outcome)
              .filter(change -> Math.abs(Math.log(change.value())) > least)
              .count();
    }
  }

  /**
   * One attempt at a task, whose rounds improve on each other.
   *
   * @param run the run that judged it; empty if each round is a run of its own
   */
  record Attempt(
      String run,
      String suite,
      String category,
      String task,
      @Nullable String method,
      @Nullable String model,
      int sample) {

    /** Tells which attempt a row belongs to. */
    record Reader(boolean roundsInRunsOfTheirOwn) {
      static Reader of(List<VerdictRow> rows) {
        Map<String, Set<Integer>> rounds = new HashMap<>();
        for (VerdictRow row : rows) {
          if (row.round() == null) return new Reader(false);
          rounds.computeIfAbsent(row.run(), _ -> new HashSet<>()).add(row.round());
        }
        return new Reader(
            rounds.size() > 1 && rounds.values().stream().allMatch(own -> own.size() == 1));
      }

      Attempt of(VerdictRow row) {
        return new Attempt(
            roundsInRunsOfTheirOwn ? "" : row.run(),
            row.suite(),
            row.category(),
            row.task(),
            row.method(),
            row.model(),
            row.sample());
      }
    }
  }
}
