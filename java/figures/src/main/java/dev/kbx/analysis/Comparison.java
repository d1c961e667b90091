package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.analysis.Comparison.Row;
import dev.kbx.analysis.Comparison.Side;
import dev.kbx.analysis.Comparison.SpeedChange.Outcome;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Comparison of two runs on the same device: changed outcomes of tasks and candidates, and changed
 * speedups.
 *
 * @param changed versions, driver and rules that differ between the two runs; empty where one is as
 *     published, of which they are not known
 * @param noiseFloor noise floor of the second run's first GPU; null if it was not measured
 * @param noiseFloors measured noise floors of all GPUs that the second run timed on
 * @param withoutFloor UUIDs of those GPUs without a measured noise floor
 * @param general judged candidates of each run that are correct at the general grade; absent if
 *     that is unknown of one
 * @param speed null if no pair has comparable timings
 * @param untimed ids of the runs without speedups, with the reason
 * @param candidates pairs, by category, task and sample
 * @param onlyThen candidates of the first run without a counterpart
 */
public record Comparison(
    RunInfo then,
    RunInfo now,
    int judgedThen,
    int judgedNow,
    Map<String, Changed> changed,
    Map<String, String> untimed,
    @Nullable NoiseFloor noiseFloor,
    List<NoiseFloor> noiseFloors,
    List<String> withoutFloor,
    TaskOutcomes tasks,
    General general,
    @Nullable MatchedSpeed speed,
    List<Row> candidates,
    int onlyThen,
    int onlyNow) {

  /** Rates at the general grade. */
  public record General(Grades.@Nullable GeneralRate then, Grades.@Nullable GeneralRate now) {}

  /** A changed version or setting; null if a run does not state it. */
  public record Changed(@Nullable String then, @Nullable String now) {}

  /** Number of candidates of which that became. */
  public long candidates(TaskOutcomes.Transition transition) {
    return candidates.stream().filter(row -> row.transition() == transition).count();
  }

  /**
   * A candidate and its counterpart in the other run.
   *
   * @param sameSource whether the sources are byte-identical
   * @param transition null if the task or kbx failed on one of them
   * @param speed null unless both are correct and timed
   */
  public record Row(
      String suite,
      String category,
      String task,
      int sample,
      boolean sameSource,
      Side then,
      Side now,
      TaskOutcomes.@Nullable Transition transition,
      @Nullable SpeedChange speed) {}

  /** One candidate of a pair. */
  public record Side(
      String candidate,
      String source,
      @Nullable String method,
      Status status,
      @Nullable Speedup speedup) {
    static Side of(VerdictRow v) {
      return new Side(v.candidate(), v.source(), v.method(), v.status(), v.speedup());
    }
  }

  /**
   * Compares {@code now} with {@code then}.
   *
   * @param floors measured noise floors of the devices
   * @throws IncomparableRuns if they ran different stages before {@code perf}
   */
  public static Comparison of(JudgedRun then, JudgedRun now, List<NoiseFloor> floors) {
    checkStages(then.run(), now.run());
    Pairs pairs = Pairs.of(then.rows(), now.rows());
    List<Row> rows = pairs.pairs().stream().map(pair -> row(pair, floors)).toList();
    Set<String> gpus = now.gpus();
    return new Comparison(
        then.run(),
        now.run(),
        then.rows().size(),
        now.rows().size(),
        changed(then.run(), now.run()),
        untimed(then, now),
        NoiseFloor.of(now.run().device().uuid(), floors),
        floors.stream().filter(floor -> gpus.contains(floor.device().uuid())).toList(),
        gpus.stream().filter(gpu -> NoiseFloor.of(gpu, floors) == null).toList(),
        TaskOutcomes.of(then.rows(), now.rows(), pairs),
        new General(Grades.GeneralRate.of(then.rows()), Grades.GeneralRate.of(now.rows())),
        MatchedSpeed.of(rows, pairs),
        rows,
        pairs.onlyThen().size(),
        pairs.onlyNow().size());
  }

  private static void checkStages(RunInfo then, RunInfo now) {
    if (then.published() != null || now.published() != null) return;
    if (untilCorrect(then).equals(untilCorrect(now))) return;
    throw new IncomparableRuns(
        "run %s went through %s and run %s through %s: their statuses do not compare"
            .formatted(then.id(), labels(then), now.id(), labels(now)));
  }

  private static List<Stage> untilCorrect(RunInfo run) {
    return run.stages().stream().filter(stage -> stage != Stage.PERF).sorted().toList();
  }

  private static String labels(RunInfo run) {
    return String.join(",", run.stages().stream().map(Stage::label).toList());
  }

  private static Map<String, Changed> changed(RunInfo then, RunInfo now) {
    if (then.published() != null || now.published() != null) return Map.of();
    Map<String, Changed> changed = new LinkedHashMap<>();
    TreeSet<String> names = new TreeSet<>(then.versions().keySet());
    names.addAll(now.versions().keySet());
    for (String name : names) {
      put(changed, name, then.versions().get(name), now.versions().get(name));
    }
    put(changed, "driver", then.device().driver(), now.device().driver());
    put(changed, "suite", then.suite(), now.suite());
    put(changed, "rules off", rulesOff(then), rulesOff(now));
    put(changed, "tolerance", then.tolerance(), now.tolerance());
    put(changed, "precision", then.precision(), now.precision());
    put(changed, "grade", then.grade(), now.grade());
    if (then.policy() != null && now.policy() != null) {
      put(changed, "policy", then.policy(), now.policy());
    }
    if (then.settings() != null && now.settings() != null) {
      put(changed, "arch", then.settings().arch(), now.settings().arch());
      put(changed, "time limit", seconds(then.settings()), seconds(now.settings()));
    }
    return changed;
  }

  private static String seconds(RunInfo.Settings settings) {
    return settings.timeoutSeconds() + " s";
  }

  private static void put(
      Map<String, Changed> changed, String name, @Nullable String then, @Nullable String now) {
    if (!Objects.equals(then, now)) changed.put(name, new Changed(then, now));
  }

  private static @Nullable String rulesOff(RunInfo run) {
    return run.rulesOff().isEmpty() ? null : String.join(",", run.rulesOff());
  }

  private static Map<String, String> untimed(JudgedRun... runs) {
    Map<String, String> untimed = new LinkedHashMap<>();
    for (JudgedRun run : runs) if (!run.hasSpeedup()) untimed.put(run.run().id(), run.noSpeedup());
    return untimed;
  }

  private static Row row(Pairs.Pair pair, List<NoiseFloor> floors) {
    VerdictRow then = pair.then();
    VerdictRow now = pair.now();
    boolean judged = then.judged() && now.judged();
    return new Row(
        now.suite(),
        now.category(),
        now.task(),
        now.sample(),
        pair.sameSource(),
        Side.of(then),
        Side.of(now),
        judged ? TaskOutcomes.Transition.of(then.correct(), now.correct()) : null,
        SpeedChange.of(then, now, floors));
  }

  /**
   * Speed change of the candidates that are correct in both runs and timed on the same sizes.
   *
   * @param matched number of such candidates
   * @param change geometric mean over tasks of each task's geometric mean of now ÷ then, with the
   *     bootstrap interval over tasks; its ends are null for a single task
   * @param set means over all correct, timed candidates of each run
   */
  public record MatchedSpeed(
      int matched, int faster, int slower, int same, Portability.Mean change, SetMean set) {

    /**
     * Geometric means over the correct, timed candidates of each run, without pairs timed on
     * different sizes. The quotient of the two means is {@code change} (candidates in both runs)
     * times {@code composition} (candidates in one run only): the mean can fall although no
     * candidate became slower.
     *
     * @param change geometric mean of now ÷ then over the candidates in both runs, each with equal
     *     weight; otherwise the quotient would not factor
     */
    public record SetMean(
        int candidatesThen,
        double then,
        int candidatesNow,
        double now,
        double change,
        double composition) {}

    /** Null if no pair has comparable timings. */
    static @Nullable MatchedSpeed of(List<Row> rows, Pairs pairs) {
      List<Double> changes = new ArrayList<>();
      Map<String, List<Double>> byTask = new LinkedHashMap<>();
      for (Row row : rows) {
        SpeedChange speed = row.speed();
        if (speed == null || speed.value() == null) continue;
        changes.add(speed.value());
        String task = row.suite() + "/" + row.category() + "/" + row.task();
        byTask.computeIfAbsent(task, _ -> new ArrayList<>()).add(speed.value());
      }
      if (changes.isEmpty()) return null;
      double[] means = byTask.values().stream().mapToDouble(MatchedSpeed::mean).toArray();
      return new MatchedSpeed(
          changes.size(),
          count(rows, Outcome.FASTER),
          count(rows, Outcome.SLOWER),
          count(rows, Outcome.SAME),
          Portability.Mean.of(means),
          set(rows, pairs, mean(changes)));
    }

    private static int count(List<Row> rows, Outcome outcome) {
      return Math.toIntExact(
          rows.stream()
              .filter(row -> row.speed() != null && row.speed().outcome() == outcome)
              .count());
    }

    private static SetMean set(List<Row> rows, Pairs pairs, double change) {
      List<Double> then = new ArrayList<>();
      List<Double> now = new ArrayList<>();
      for (Row row : rows) {
        // A pair timed on different sizes is in neither mean.
        if (row.speed() != null && row.speed().value() == null) continue;
        add(then, row.then());
        add(now, row.now());
      }
      for (VerdictRow left : pairs.onlyThen()) add(then, Side.of(left));
      for (VerdictRow joined : pairs.onlyNow()) add(now, Side.of(joined));
      double before = mean(then);
      double after = mean(now);
      return new SetMean(then.size(), before, now.size(), after, change, after / before / change);
    }

    private static void add(List<Double> speedups, Side side) {
      Speedup speedup = side.speedup();
      if (side.status() == Status.CORRECT && speedup != null) speedups.add(speedup.value());
    }

    private static double mean(List<Double> ratios) {
      return Ratio.geometricMean(ratios.stream().mapToDouble(Double::doubleValue).toArray());
    }
  }

  /**
   * A candidate's speedup over its counterpart's in the earlier run, with the interval of {@link
   * Ratio#over}, and whether they differ: the 95 % intervals do not overlap, and the difference
   * exceeds the noise floor, if known. This is stricter than a test at 5 % (N. Schenker and J. F.
   * Gentleman, "On judging the significance of differences by examining the overlap between
   * confidence intervals", The American Statistician 55 (2001) 182–186); differences between
   * sessions are in neither interval.
   *
   * @param value null, as are both ends, if the two are not comparable
   * @param low null, as is {@code high}, of published speedups, too
   */
  public record SpeedChange(
      Outcome outcome, @Nullable Double value, @Nullable Double low, @Nullable Double high) {

    /** Outcome of the comparison. */
    public enum Outcome {
      FASTER,
      SLOWER,
      /** The difference is within the intervals or the noise floor. */
      SAME,
      OTHER_DEVICE,
      OTHER_BASELINE,
      /** The timed sizes differ or are unknown. */
      OTHER_SIZES,
      /**
       * Both speedups are as published: without sizes and intervals, so that no change can be told.
       */
      AS_PUBLISHED;

      /** The name in files: {@code faster, other_sizes, …}. */
      @JsonValue
      public String label() {
        return name().toLowerCase(Locale.ROOT);
      }
    }

    /**
     * Compares two verdicts; null unless both are correct and timed.
     *
     * @param floors noise floors of devices; that of the GPU of {@code now} counts
     */
    static @Nullable SpeedChange of(VerdictRow then, VerdictRow now, List<NoiseFloor> floors) {
      Ratio before = then.correctSpeedup();
      Ratio after = now.correctSpeedup();
      if (before == null || after == null) return null;
      if (!sameDevice(then, now)) return refused(Outcome.OTHER_DEVICE);
      if (!Objects.equals(then.against(), now.against())) return refused(Outcome.OTHER_BASELINE);
      if (then.asPublished() && now.asPublished()) {
        double change = after.value() / before.value();
        return new SpeedChange(Outcome.AS_PUBLISHED, change, null, null);
      }
      if (!then.hasSizesOf(now)) return refused(Outcome.OTHER_SIZES);
      Ratio change = after.over(before);
      NoiseFloor floor = NoiseFloor.of(now.device().uuid(), floors);
      double least = floor != null ? Math.log1p(floor.ofTwo()) : 0;
      boolean exceeds = Math.abs(Math.log(change.value())) > least;
      Outcome outcome = Outcome.SAME;
      if (exceeds && after.low() > before.high()) outcome = Outcome.FASTER;
      if (exceeds && after.high() < before.low()) outcome = Outcome.SLOWER;
      return new SpeedChange(outcome, change.value(), change.low(), change.high());
    }

    private static SpeedChange refused(Outcome why) {
      return new SpeedChange(why, null, null, null);
    }

    private static boolean sameDevice(VerdictRow then, VerdictRow now) {
      return then.device().name().equals(now.device().name())
          && Objects.equals(then.device().uuid(), now.device().uuid());
    }
  }
}
