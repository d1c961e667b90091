package dev.kbx.analysis;

import dev.kbx.stats.PassAtK;
import dev.kbx.verdict.NoiseFloor;
import java.util.ArrayList;
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
   * @param tasks number of tasks with one
   * @param asked number of tasks asked for: what shares are of
   */
  public record OfMethod(
      @Nullable String method,
      @Nullable String model,
      int attempts,
      int tasks,
      int asked,
      List<Round> rounds,
      List<IterationStep> steps) {}

  /**
   * One round.
   *
   * @param candidates number of judged ones
   * @param general correct at the general grade; null if that is unknown of one
   * @param solved attempts that are correct in this or an earlier round
   * @param share mean over the tasks asked for of the share of a task's attempts that are solved
   * @param low lower end of its 95 % interval: Wilson's for one attempt a task, else by bootstrap
   *     over tasks; null if these all have the same share
   * @param speed of the correct, timed ones; null if there is none
   */
  public record Round(
      int round,
      int candidates,
      int called,
      int correct,
      @Nullable Integer general,
      int solved,
      double share,
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
   * Of the attempts in all runs.
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
      else methods.add(of(rows, missing, pool.entered().asked(), floors));
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
      List<VerdictRow> rows, List<VerdictRow> unjudged, int tasks, List<NoiseFloor> floors) {
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
    int asked = Math.max(tasks, tried);
    List<Integer> numbers = List.copyOf(rounds(rows));
    List<Map<Integer, VerdictRow>> all = List.copyOf(attempts.values());
    List<IterationStep> steps = new ArrayList<>();
    for (int i = 1; i < numbers.size(); i++) {
      steps.add(IterationStep.of(attempts, missing, numbers.get(i - 1), numbers.get(i), floors));
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

  private static Round round(List<Map<Integer, VerdictRow>> attempts, int number, int asked) {
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
    TaskShare share = TaskShare.of(tasks.values(), asked);
    GeneralRate general = GeneralRate.of(rows);
    return new Round(
        number,
        rows.size(),
        (int) rows.stream().filter(VerdictRow::called).count(),
        (int) rows.stream().filter(Iterations::isCorrect).count(),
        general == null ? null : general.correct(),
        solved,
        share.value(),
        share.low(),
        share.high(),
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
}
