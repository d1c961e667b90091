package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.analysis.Grades;
import dev.kbx.analysis.SetSpeedup;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.stats.Rate;
import dev.kbx.verdict.BriefVerdict.Sizes;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The content of {@code summary.json}. First KernelBenchX's fields with its meanings, then ours.
 * What was not measured is null here and absent in the file.
 *
 * @param model the candidates' model if they share one
 * @param perf that performance was not measured, and why; null if it was
 * @param scaled how many were judged on smaller inputs than published; null if none
 * @param problems messages about sources that could not be read
 */
@JsonPropertyOrder({
  "published",
  "model",
  "run",
  "suite",
  "device",
  "versions",
  "perf",
  "scaled",
  "found"
})
record Summary(
    @JsonUnwrapped Published published,
    @Nullable String model,
    RunInfo run,
    String suite,
    Verdict.Device device,
    Map<String, String> versions,
    @Nullable String perf,
    @Nullable String scaled,
    @JsonUnwrapped Found found,
    List<String> problems) {

  /**
   * KernelBenchX's fields.
   *
   * @param method the candidates' method if they share one, else the run's id
   * @param total candidates judged, variants too; {@code coverage} has the suite
   * @param callRate percent of {@code total}, one decimal, as are the other two rates
   * @param exePass candidates called whose results are right, whoever computed them, as {@link
   *     VerdictRow#valuesOk} has it
   * @param avgSpeedup the same as {@code avgSpeedupGlobal}
   * @param avgSpeedupGlobal as {@link PublishedAverages}, like {@code avgSpeedupPerTask}
   */
  record Published(
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
      @Nullable Double avgSpeedupPerTask) {}

  /**
   * What came of the candidates.
   *
   * @param extra candidates of variants, which the suite's rates, the categories and {@code
   *     speedup} exclude
   * @param suiteRates tasks with at least one passing candidate over all tasks of the suite
   * @param speedup over the tasks of correct, timed candidates
   * @param grades right values at each grade, whoever computed them, and what breaks; null if no
   *     results were compared
   */
  record Found(
      Coverage coverage,
      int notJudged,
      int extra,
      Rates suiteRates,
      @Nullable SetSpeedup speedup,
      @Nullable Grades grades,
      Map<String, Integer> byStatus,
      List<Category> byCategory) {}

  /** How much of the suite was submitted. */
  @JsonPropertyOrder({"tasks_submitted", "tasks_in_suite"})
  public record Coverage(long tasksSubmitted, int tasksInSuite) {}

  /**
   * Rates by stage; null if not measured. {@code exe}: right results, whoever computed them; {@code
   * general}: correct at the general grade, too.
   */
  @JsonPropertyOrder({"call", "exe", "correct", "general", "perf"})
  public record Rates(
      @Nullable Share call,
      @Nullable Share exe,
      @Nullable Share correct,
      @Nullable Share general,
      @Nullable Share perf) {}

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
   * Sums up some candidates of a run.
   *
   * @param tally tally of the run
   */
  static Summary of(RunInfo run, Tally tally, List<VerdictRow> rows, List<String> problems) {
    int total = rows.size();
    Long call = tally.call() ? Tally.passes(rows, 1) : null;
    Long exe = tally.correct() ? Tally.passes(rows, 2) : null;
    Long perf = tally.perf() ? Tally.passes(rows, 3) : null;
    Averages averages = Averages.of(rows);
    Double global = thousandths(averages.global());
    String method = shared(rows, VerdictRow::method);
    return new Summary(
        new Published(
            method == null ? run.id() : method,
            total,
            call,
            percent(call, total),
            exe,
            percent(exe, total),
            perf,
            percent(perf, total),
            global,
            global,
            thousandths(averages.perTask())),
        shared(rows, VerdictRow::model),
        run,
        run.suite(),
        run.device(),
        new TreeMap<>(run.versions()),
        Notes.perf(run, tally),
        Notes.scaled(rows),
        new Found(
            new Coverage(tally.submitted(rows), tally.asked().total()),
            tally.candidates("", rows).notJudged(),
            tally.extra(rows),
            rates(tally.suite("", rows)),
            run.ofChanges() ? null : rounded(SetSpeedup.of(tally.counted(rows))),
            tally.correct() ? Grades.of(rows) : null,
            labels(Tally.byStatus(rows)),
            tally.byCategory(rows).stream().map(Summary::category).toList()),
        List.copyOf(problems));
  }

  /** The value that all candidates share; null if they differ or have none. */
  private static @Nullable String shared(
      List<VerdictRow> rows, Function<VerdictRow, @Nullable String> of) {
    Set<Optional<String>> all =
        rows.stream().map(row -> Optional.ofNullable(of.apply(row))).collect(Collectors.toSet());
    return all.size() == 1 ? all.iterator().next().orElse(null) : null;
  }

  private static @Nullable SetSpeedup rounded(@Nullable SetSpeedup speedup) {
    if (speedup == null) return null;
    return new SetSpeedup(
        speedup.candidates(),
        speedup.tasks(),
        rounded(speedup.geometricMean(), 1_000),
        thousandths(speedup.low()),
        thousandths(speedup.high()),
        rounded(speedup.median(), 1_000),
        speedup.slower());
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
    return new Rates(
        Share.of(passes.call()),
        Share.of(passes.values()),
        Share.of(passes.correct()),
        Share.of(passes.general()),
        Share.of(passes.perf()));
  }

  private static @Nullable Double percent(@Nullable Long passes, int total) {
    return passes == null || total == 0 ? null : inPercent((double) passes / total);
  }

  private static double inPercent(double share) {
    return rounded(share * 100, 10);
  }

  private static @Nullable Double thousandths(@Nullable Double value) {
    return value == null ? null : rounded(value, 1_000);
  }

  private static double rounded(double value, int unit) {
    return (double) Math.round(value * unit) / unit;
  }

  /**
   * Averages of all speedups as KernelBenchX computes them, for comparison with it only; otherwise
   * use {@link SetSpeedup}.
   *
   * @param global total milliseconds of the requested baseline over those of the candidates, on the
   *     same sizes: dominated by the slowest; null if the baseline times of a candidate are unknown
   * @param perTask arithmetic mean; null without speedups
   */
  private record Averages(@Nullable Double global, @Nullable Double perTask) {
    /** Averages over the rows with a speedup. */
    static Averages of(List<VerdictRow> rows) {
      List<VerdictRow> timed = rows.stream().filter(row -> row.speedup() != null).toList();
      if (timed.isEmpty()) return new Averages(null, null);
      double mean =
          timed.stream()
              .map(VerdictRow::speedup)
              .filter(Objects::nonNull)
              .mapToDouble(Verdict.Speedup::value)
              .average()
              .orElseThrow();
      return new Averages(global(timed), mean);
    }

    private static @Nullable Double global(List<VerdictRow> timed) {
      double baseline = 0;
      double candidate = 0;
      for (VerdictRow row : timed) {
        Sizes sizes = row.sizes();
        if (sizes == null || sizes.baselineMs() == null) return null;
        baseline += sizes.baselineMs();
        candidate += sizes.candidateMs();
      }
      return baseline / candidate;
    }
  }
}
