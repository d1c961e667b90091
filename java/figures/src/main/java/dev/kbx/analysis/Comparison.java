package dev.kbx.analysis;

import dev.kbx.verdict.NoiseFloor;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.LinkedHashMap;
import java.util.List;
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
  public record General(@Nullable GeneralRate then, @Nullable GeneralRate now) {}

  /** A changed version or setting; null if a run does not state it. */
  public record Changed(@Nullable String then, @Nullable String now) {}

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
      @Nullable Transition transition,
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
    Set<String> cards = now.cards();
    return new Comparison(
        then.run(),
        now.run(),
        then.rows().size(),
        now.rows().size(),
        changed(then.run(), now.run()),
        untimed(then, now),
        NoiseFloor.of(now.run().device().uuid(), floors),
        floors.stream().filter(floor -> cards.contains(floor.device().uuid())).toList(),
        cards.stream().filter(card -> NoiseFloor.of(card, floors) == null).toList(),
        TaskOutcomes.of(then.rows(), now.rows(), pairs),
        new General(GeneralRate.of(then.rows()), GeneralRate.of(now.rows())),
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
        judged ? Transition.of(then.correct(), now.correct()) : null,
        SpeedChange.of(then, now, floors));
  }
}
