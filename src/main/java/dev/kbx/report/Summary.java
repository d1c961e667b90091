package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.kbx.stats.Median;
import dev.kbx.stats.Rate;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A run in numbers: {@code summary.json}. First KernelBenchX's fields with its meanings, then ours.
 * What was not measured is null here and absent there.
 *
 * @param method the candidates' method where they share one, else the run's id
 * @param total candidates judged, variants too; {@code coverage} has the suite
 * @param callRate percent of {@code total}, one decimal, as are the other two rates
 * @param exePass candidates called and correct, as {@link Tally#isCorrect} has it
 * @param avgSpeedup the same as {@code avgSpeedupGlobal}
 * @param avgSpeedupGlobal all milliseconds of the baseline asked for over all of the candidates,
 *     size by size the same sizes: dominated by the slowest; for comparison with KernelBenchX only;
 *     null where those of a candidate's baseline are not known
 * @param avgSpeedupPerTask arithmetic mean; for comparison with KernelBenchX only
 * @param extra candidates of variants beside the published tasks; these rates, the categories and
 *     {@code speedup} leave them out
 * @param suiteRates tasks with at least one passing candidate over all tasks of the suite
 * @param speedup over the tasks of correct, timed candidates
 * @param perf says that performance was not measured, and why; null where it was
 * @param scaled says how many were judged on smaller inputs than published; null where none was
 * @param problems what could not be read
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonPropertyOrder({
  "method",
  "total",
  "call_pass",
  "call_rate",
  "exe_pass",
  "exe_rate",
  "perf_pass",
  "perf_rate",
  "avg_speedup",
  "avg_speedup_global",
  "avg_speedup_per_task",
  "run",
  "suite",
  "device",
  "versions",
  "perf",
  "scaled",
  "coverage",
  "not_judged",
  "extra",
  "suite_rates",
  "speedup",
  "by_status",
  "by_category",
  "problems"
})
public record Summary(
    String method,
    int total,
    @Nullable Long callPass,
    @Nullable Double callRate,
    @Nullable Long exePass,
    @Nullable Double exeRate,
    @Nullable Long perfPass,
    @Nullable Double perfRate,
    @Nullable Double avgSpeedup,
    @Nullable Double avgSpeedupGlobal,
    @Nullable Double avgSpeedupPerTask,
    RunInfo run,
    String suite,
    Verdict.Device device,
    Map<String, String> versions,
    @Nullable String perf,
    @Nullable String scaled,
    Coverage coverage,
    int notJudged,
    int extra,
    Rates suiteRates,
    @Nullable SetSpeedup speedup,
    Map<String, Integer> byStatus,
    List<Category> byCategory,
    List<String> problems) {

  /** How much of the suite was submitted. */
  @JsonPropertyOrder({"tasks_submitted", "tasks_in_suite"})
  public record Coverage(long tasksSubmitted, int tasksInSuite) {}

  /** Rates by stage; null where not measured. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonPropertyOrder({"call", "exe", "perf"})
  public record Rates(@Nullable Share call, @Nullable Share exe, @Nullable Share perf) {}

  /**
   * Passes out of so many, in percent with Wilson's 95 % interval, one decimal.
   *
   * @param of the denominator
   */
  @JsonPropertyOrder({"pass", "of", "percent", "low", "high"})
  public record Share(long pass, long of, double percent, double low, double high) {
    static @Nullable Share of(@Nullable Rate rate) {
      if (rate == null) return null;
      return new Share(
          rate.passes(),
          rate.total(),
          inPercent(rate.value()),
          inPercent(rate.low()),
          inPercent(rate.high()));
    }
  }

  /** One category: its candidates, those not judged, and rates over those judged. */
  @JsonPropertyOrder({"category", "candidates", "not_judged", "rates"})
  public record Category(String category, int candidates, int notJudged, Rates rates) {}

  /**
   * Speedup over a set of tasks, each with the geometric mean of its candidates: a task with many
   * does not weigh more, nor do they look like independent ones.
   *
   * @param candidates how many are correct and timed
   * @param tasks how many these are of
   * @param low lower end of the geometric mean's 95 % interval, bootstrap over tasks; null for a
   *     single one
   * @param slower how many tasks are slower than the baseline
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @JsonPropertyOrder({"candidates", "tasks", "geometric_mean", "low", "high", "median", "slower"})
  public record SetSpeedup(
      int candidates,
      int tasks,
      double geometricMean,
      @Nullable Double low,
      @Nullable Double high,
      double median,
      long slower) {}

  static Summary of(RunInfo run, Tally tally, List<Verdict> verdicts, List<String> problems) {
    int total = verdicts.size();
    Long call = tally.call() ? passes(verdicts, 1) : null;
    Long exe = tally.correct() ? passes(verdicts, 2) : null;
    Long perf = tally.perf() ? passes(verdicts, 3) : null;
    List<Verdict> timed = verdicts.stream().filter(v -> v.speedup() != null).toList();
    Double global = globalSpeedup(timed);
    return new Summary(
        method(run, verdicts),
        total,
        call,
        percent(call, total),
        exe,
        percent(exe, total),
        perf,
        percent(perf, total),
        global,
        global,
        meanSpeedup(timed),
        run,
        run.suite(),
        run.device(),
        new TreeMap<>(run.versions()),
        Notes.perf(run, tally),
        Notes.scaled(verdicts),
        new Coverage(tally.submitted(verdicts), tally.asked().total()),
        tally.candidates("", verdicts).notJudged(),
        tally.extra(verdicts),
        rates(tally.tasks("", verdicts)),
        setSpeedup(tally.counted(timed)),
        labels(Tally.byStatus(verdicts)),
        tally.byCategory(verdicts).stream().map(Summary::category).toList(),
        List.copyOf(problems));
  }

  private static String method(RunInfo run, List<Verdict> verdicts) {
    List<String> methods =
        verdicts.stream().map(v -> Objects.requireNonNullElse(v.method(), "")).distinct().toList();
    return methods.size() == 1 && !methods.contains("") ? methods.getFirst() : run.id();
  }

  /** Candidates that passed the first {@code stages} of call, correct and perf. */
  private static long passes(List<Verdict> verdicts, int stages) {
    return verdicts.stream()
        .filter(v -> Tally.isTrue(v.callOk()))
        .filter(v -> stages < 2 || Tally.isCorrect(v))
        .filter(v -> stages < 3 || Tally.isTrue(v.perfOk()))
        .count();
  }

  private static @Nullable Double globalSpeedup(List<Verdict> timed) {
    double baseline = 0;
    double candidate = 0;
    for (Verdict verdict : timed) {
      List<SizeTiming> sizes = verdict.sizes();
      Double ms = Speeds.baselineMs(verdict);
      if (sizes == null || ms == null) return null;
      baseline += ms;
      candidate += sizes.stream().mapToDouble(SizeTiming::candidateMs).sum();
    }
    return timed.isEmpty() ? null : rounded(baseline / candidate, 1_000);
  }

  private static @Nullable Double meanSpeedup(List<Verdict> timed) {
    if (timed.isEmpty()) return null;
    return rounded(Arrays.stream(values(timed)).average().orElseThrow(), 1_000);
  }

  private static @Nullable SetSpeedup setSpeedup(List<Verdict> timed) {
    List<Verdict> correct = timed.stream().filter(v -> Speeds.of(v) != null).toList();
    if (correct.isEmpty()) return null;
    double[] values =
        correct.stream().collect(Collectors.groupingBy(Tally::taskOf)).values().stream()
            .mapToDouble(candidates -> Ratio.geometricMean(values(candidates)))
            .toArray();
    Ratio ratio = values.length < 2 ? null : Ratio.ofTasks(values);
    return new SetSpeedup(
        correct.size(),
        values.length,
        rounded(Ratio.geometricMean(values), 1_000),
        ratio == null ? null : rounded(ratio.low(), 1_000),
        ratio == null ? null : rounded(ratio.high(), 1_000),
        rounded(Median.of(values), 1_000),
        Arrays.stream(values).filter(v -> v < 1).count());
  }

  private static double[] values(List<Verdict> timed) {
    return timed.stream()
        .map(Verdict::speedup)
        .filter(Objects::nonNull)
        .mapToDouble(Verdict.Speedup::value)
        .toArray();
  }

  private static Map<String, Integer> labels(Map<Status, Integer> counts) {
    var labels = new TreeMap<String, Integer>();
    counts.forEach((status, count) -> labels.put(status.label(), count));
    return labels;
  }

  private static Category category(Tally.Passes passes) {
    return new Category(passes.name(), passes.candidates(), passes.notJudged(), rates(passes));
  }

  private static Rates rates(Tally.Passes passes) {
    return new Rates(Share.of(passes.call()), Share.of(passes.correct()), Share.of(passes.perf()));
  }

  private static @Nullable Double percent(@Nullable Long passes, int total) {
    return passes == null || total == 0 ? null : inPercent((double) passes / total);
  }

  private static double inPercent(double share) {
    return rounded(share * 100, 10);
  }

  private static double rounded(double value, int unit) {
    return (double) Math.round(value * unit) / unit;
  }
}
