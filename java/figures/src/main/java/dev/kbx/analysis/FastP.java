package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.kbx.stats.Exceedance;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * fast_p of a series: the share of the tasks tried whose candidate is correct and more than p times
 * as fast as a baseline. fast_0 is the share of correct ones.
 *
 * <p>The speed of a correct candidate without a speedup is unknown; then only fast_0 of its group
 * is known. A candidate that was not judged counts as not correct.
 *
 * @param pick which candidate of a task counts
 * @param laterFirst tasks whose first judged sample is not sample 0
 * @param untimed why nothing was timed; null if something was
 * @param against one entry a baseline, {@code eager} first, {@code best} (if there are several)
 *     last
 * @param rows the data: one candidate a task
 */
public record FastP(
    Series series,
    Pick pick,
    int laterFirst,
    @Nullable String untimed,
    List<Against> against,
    List<Row> rows) {
  private static final List<Double> THRESHOLDS = List.of(0.0, 0.5, 0.8, 1.0, 1.5, 2.0);

  /** Which candidate of a task counts. */
  public enum Pick {
    /** The first sample: one attempt. */
    FIRST_SAMPLE,
    /** The fastest correct one: the best of all attempts. */
    BEST_SAMPLE;

    /** The name in files: {@code first_sample, …}. */
    @JsonValue
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** All groups against one baseline. */
  public record Against(String baseline, Group overall, List<Group> categories) {}

  /**
   * A group of tasks.
   *
   * @param category null for all
   * @param tasks number of tasks with a candidate, what shares are of; of none there are no shares
   * @param asked number of tasks requested; null if unknown
   * @param correct number of correct candidates
   * @param general those of them that are correct at the general grade, among the tasks; null if
   *     that is unknown of one
   * @param unknown correct ones without a speedup against this baseline
   * @param thresholds at 0, 0.5, 0.8, 1, 1.5 and 2
   * @param curve the thresholds at which the share changes, from 0, as a step function; null if a
   *     speedup is unknown
   */
  public record Group(
      @Nullable String category,
      int tasks,
      @Nullable Integer asked,
      int correct,
      Grades.@Nullable GeneralRate general,
      int unknown,
      List<Point> thresholds,
      @Nullable List<Point> curve) {}

  /**
   * fast_p at one threshold.
   *
   * @param faster correct candidates more than p times as fast as the baseline; null if unknown
   * @param share share of the tasks tried, 0 to 1
   * @param low lower end of Wilson's 95 % interval
   */
  public record Point(
      double p,
      @Nullable Long faster,
      @Nullable Double share,
      @Nullable Double low,
      @Nullable Double high) {}

  /**
   * The candidate that counts for a task.
   *
   * @param general whether it is correct at the general grade; null if unknown
   * @param speedups known ones, by baseline
   */
  public record Row(
      String category,
      String task,
      int sample,
      String candidate,
      String source,
      Status status,
      @Nullable Boolean general,
      Map<String, Double> speedups) {}

  /**
   * One for each series of the run.
   *
   * @throws IncomparableRuns if the correctness stage was not requested, or only {@linkplain
   *     RunInfo#ofChanges changes} were published
   */
  public static List<FastP> of(JudgedRun run, SelectedTasks asked, Pick pick) {
    if (!run.run().stages().contains(Stage.CORRECT)) {
      throw new IncomparableRuns(
          "run %s: the correct stage was not asked for; fast_p needs it".formatted(run.run().id()));
    }
    if (run.run().ofChanges()) {
      throw new IncomparableRuns(
          "run %s: no fast_p, as %s".formatted(run.run().id(), RunInfo.Published.NO_RATES));
    }
    BaselineSpeeds speeds = BaselineSpeeds.of(run.rows());
    String untimed = speeds.isTimed(run) ? null : run.untimed();
    return Series.of(run, asked).stream().map(m -> of(m, speeds, pick, untimed)).toList();
  }

  /**
   * The curve of one method and model over the tasks that it tried: the first sample of each, in
   * its last round.
   *
   * @param verdicts rows of that method and model
   * @param baseline the one that the run asked for
   * @return null if a speedup of a correct candidate is unknown
   */
  public static @Nullable List<Point> curve(
      List<VerdictRow> verdicts, SelectedTasks asked, String baseline) {
    BaselineSpeeds speeds = BaselineSpeeds.of(verdicts);
    List<VerdictRow> counted = verdicts.stream().filter(asked::has).toList();
    List<Row> rows = rows(lastRounds(counted), speeds, Pick.FIRST_SAMPLE);
    return group(null, asked.total(), rows, speeds.named(baseline)).curve();
  }

  /** Each sample in its last round, sorted. */
  private static List<VerdictRow> lastRounds(List<VerdictRow> verdicts) {
    Map<String, VerdictRow> last = new LinkedHashMap<>();
    for (VerdictRow row : Tally.sorted(verdicts)) {
      last.merge(row.name(), row, (old, now) -> number(now) >= number(old) ? now : old);
    }
    return List.copyOf(last.values());
  }

  private static int number(VerdictRow row) {
    return row.round() == null ? 0 : row.round();
  }

  private static FastP of(
      Series.Members members, BaselineSpeeds speeds, Pick pick, @Nullable String untimed) {
    List<Row> rows = rows(members.rows(), speeds, pick);
    int later =
        pick == Pick.FIRST_SAMPLE ? (int) rows.stream().filter(r -> r.sample > 0).count() : 0;
    List<Against> against = new ArrayList<>();
    for (String baseline : speeds.withBest()) {
      List<Group> categories = new ArrayList<>();
      for (String category : members.asked().categories(members.rows())) {
        List<Row> own = rows.stream().filter(row -> row.category().equals(category)).toList();
        categories.add(group(category, members.asked().in(category), own, baseline));
      }
      Group overall = group(null, members.asked().total(), rows, baseline);
      against.add(new Against(baseline, overall, categories));
    }
    return new FastP(members.series(), pick, later, untimed, against, rows);
  }

  private static List<Row> rows(List<VerdictRow> verdicts, BaselineSpeeds speeds, Pick pick) {
    Map<String, Row> rows = new LinkedHashMap<>();
    for (VerdictRow v : verdicts) {
      Row row =
          new Row(
              v.category(),
              v.task(),
              v.sample(),
              v.candidate(),
              v.source(),
              v.status(),
              v.general(),
              speeds.of(v));
      rows.merge(
          v.path(),
          row,
          (before, now) ->
              pick == Pick.BEST_SAMPLE && isBetter(now, before, speeds) ? now : before);
    }
    return List.copyOf(rows.values());
  }

  /**
   * A correct candidate of unknown speed may be the fastest; it is preferred, so that the task's
   * speed is unknown.
   */
  private static boolean isBetter(Row now, Row before, BaselineSpeeds speeds) {
    if (now.status() != Status.CORRECT) return false;
    if (before.status() != Status.CORRECT) return true;
    String first = speeds.names().getFirst();
    double unknown = Double.POSITIVE_INFINITY;
    return now.speedups().getOrDefault(first, unknown)
        > before.speedups().getOrDefault(first, unknown);
  }

  private static Group group(
      @Nullable String category, @Nullable Integer asked, Collection<Row> rows, String baseline) {
    int tasks = rows.size();
    List<Row> correct = rows.stream().filter(r -> r.status() == Status.CORRECT).toList();
    double[] known =
        correct.stream()
            .map(row -> row.speedups().get(baseline))
            .filter(Objects::nonNull)
            .mapToDouble(Double::doubleValue)
            .toArray();
    int unknown = correct.size() - known.length;
    var speedups = new Exceedance(known, Math.max(1, rows.size()));
    DoubleFunction<Point> at =
        p -> {
          if (p == 0) return point(p, correct.size(), tasks);
          if (unknown > 0) return new Point(p, null, null, null, null);
          return point(p, speedups.above(p).passes(), tasks);
        };
    return new Group(
        category,
        tasks,
        asked,
        correct.size(),
        Grades.GeneralRate.of(rows.stream().<@Nullable Boolean>map(Row::general).toList(), tasks),
        unknown,
        THRESHOLDS.stream().map(at::apply).toList(),
        unknown > 0 ? null : Arrays.stream(speedups.steps()).mapToObj(at).toList());
  }

  private static Point point(double p, long faster, int tasks) {
    if (tasks == 0) return new Point(p, faster, null, null, null);
    var rate = new Rate(faster, tasks);
    return new Point(p, faster, rate.value(), rate.low(), rate.high());
  }
}
