package dev.kbx.analysis;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.stats.PassAtK;
import dev.kbx.stats.TaskMean;
import dev.kbx.verdict.Spent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What came of one method with one model.
 *
 * @param tasks that it worked at
 * @param tries answers, with code or not: samples of tasks
 * @param withCode answers with code
 * @param development share of the answers judged there that are correct on development inputs; null
 *     if none was
 * @param finalRate share of all answers that are correct in the final judgement; null without one
 * @param gap development minus final, over answers judged in both; null if there are none
 * @param solved tasks with a correct answer; null without a final judgement
 */
@JsonPropertyOrder({
  "method",
  "model",
  "tasks",
  "tries",
  "with_code",
  "development",
  "final_rate",
  "gap",
  "solved",
  "pass"
})
public record TrajectoryRates(
    String method,
    String model,
    int tasks,
    int tries,
    int withCode,
    @Nullable TaskShare development,
    @Nullable TaskShare finalRate,
    @Nullable TaskMean gap,
    @Nullable Integer solved,
    @JsonUnwrapped PassAtMost pass,
    Spent spent) {

  /**
   * pass@k and pass^k of the final judgement.
   *
   * @param k the most samples with a final judgement that a task has; 1 for most methods
   * @param passTasks tasks with so many: those that it is of
   * @param passAtK that one of them passes; null with one sample, or without that judgement
   * @param allPass pass^k: that all of them do; null likewise
   */
  public record PassAtMost(
      int k, int passTasks, @Nullable TaskMean passAtK, @Nullable TaskMean allPass) {
    private static PassAtMost of(int k, List<PassAtK> tasks) {
      return k == 1
          ? new PassAtMost(k, tasks.size(), null, null)
          : new PassAtMost(
              k, tasks.size(), PassAtK.taskMean(tasks, k), PassAtK.taskMeanOfAll(tasks, k));
    }
  }

  /** One for each method and model, in the order of the rows. */
  public static List<TrajectoryRates> of(List<TrajectoryRow> rows) {
    return byMethod(rows).stream().map(TrajectoryRates::ofOne).toList();
  }

  /** The rows of each method and model. */
  static List<List<TrajectoryRow>> byMethod(List<TrajectoryRow> rows) {
    Map<List<String>, List<TrajectoryRow>> groups = new LinkedHashMap<>();
    for (TrajectoryRow row : rows) {
      groups.computeIfAbsent(List.of(row.method(), row.model()), _ -> new ArrayList<>()).add(row);
    }
    return List.copyOf(groups.values());
  }

  /** Rows by task, in the order of the first of each. */
  static Map<String, List<TrajectoryRow>> byTask(List<TrajectoryRow> rows) {
    return rows.stream()
        .collect(
            Collectors.groupingBy(TrajectoryRow::task, LinkedHashMap::new, Collectors.toList()));
  }

  private static TrajectoryRates ofOne(List<TrajectoryRow> rows) {
    TaskShare.Tries development = new TaskShare.Tries();
    TaskShare.Tries last = new TaskShare.Tries();
    for (TrajectoryRow row : rows) {
      if (row.development() != null) development.add(row.task(), row.development());
      if (row.correct() != null) last.add(row.task(), row.correct());
    }
    Map<String, List<TrajectoryRow>> tasks = byTask(rows);
    List<PassAtK> judged = passes(tasks);
    int k = judged.stream().mapToInt(PassAtK::samples).max().orElse(1);
    // k is never made smaller for tasks of which some samples could not be judged.
    List<PassAtK> enough = judged.stream().filter(task -> task.samples() == k).toList();
    return new TrajectoryRates(
        rows.getFirst().method(),
        rows.getFirst().model(),
        tasks.size(),
        rows.size(),
        (int) rows.stream().filter(TrajectoryRow::code).count(),
        development.share(),
        last.share(),
        gap(tasks),
        judged.isEmpty() ? null : (int) judged.stream().filter(t -> t.passes() > 0).count(),
        PassAtMost.of(k, enough),
        rows.stream().map(TrajectoryRow::spent).reduce(Spent.NOTHING, Spent::plus));
  }

  /** Correct answers of each task that has an answer with a final judgement. */
  private static List<PassAtK> passes(Map<String, List<TrajectoryRow>> tasks) {
    List<PassAtK> passes = new ArrayList<>();
    for (List<TrajectoryRow> rows : tasks.values()) {
      int samples = (int) rows.stream().filter(row -> row.correct() != null).count();
      int correct = (int) rows.stream().filter(row -> isTrue(row.correct())).count();
      if (samples > 0) passes.add(new PassAtK(samples, correct));
    }
    return passes;
  }

  private static @Nullable TaskMean gap(Map<String, List<TrajectoryRow>> tasks) {
    double[] gaps =
        tasks.values().stream()
            .map(TrajectoryRates::judgedTwice)
            .filter(rows -> !rows.isEmpty())
            .mapToDouble(rows -> rows.stream().mapToInt(TrajectoryRates::lost).average().orElse(0))
            .toArray();
    return gaps.length == 0 ? null : TaskMean.of(gaps);
  }

  private static List<TrajectoryRow> judgedTwice(List<TrajectoryRow> rows) {
    return rows.stream().filter(r -> r.development() != null && r.correct() != null).toList();
  }

  /** 1 for an answer that is correct on development inputs only, -1 for the contrary. */
  private static int lost(TrajectoryRow row) {
    return (isTrue(row.development()) ? 1 : 0) - (isTrue(row.correct()) ? 1 : 0);
  }

  static boolean isTrue(@Nullable Boolean known) {
    return Boolean.TRUE.equals(known);
  }
}
