package dev.kbx.analysis;

import dev.kbx.stats.Bootstrap;
import dev.kbx.stats.PassAtK;
import dev.kbx.stats.Rate;
import dev.kbx.stats.TaskMean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one method and model.
 *
 * @param candidates number of its judged candidates
 * @param tasks number of tasks with one
 * @param notJudged tasks of which kbx could judge no candidate; they do not count as tried
 * @param conversion correct of called
 * @param samples pass@k, pass^k and fast_p@k
 * @param speedup of its correct candidates; null if none was timed against the same as the others
 */
public record MethodRates(
    MethodAndModel maker,
    int candidates,
    int tasks,
    int notJudged,
    List<OfOutcome> outcomes,
    List<Conversion> conversion,
    List<Sampled> samples,
    @Nullable SetSpeedup speedup) {

  /** An outcome over the tasks tried, and by category. */
  public record OfOutcome(Outcome outcome, Share all, List<Share> categories) {}

  /**
   * The mean over the tasks tried of the share of a task's samples that pass.
   *
   * @param category null for all
   * @param passes number of passing candidates
   * @param tasks number of tasks with a judged candidate, what the share is of
   * @param asked number of tasks asked for
   * @param unmeasured candidates of which it is not known whether they pass; then there is no share
   * @param low lower end of the 95 % interval, as that of a {@link TaskShare}
   */
  public record Share(
      @Nullable String category,
      int passes,
      int tasks,
      int asked,
      int unmeasured,
      @Nullable Double share,
      @Nullable Double low,
      @Nullable Double high) {}

  /**
   * How many of the candidates that can be called are correct.
   *
   * @param category null for all
   * @param share null if none can be called
   * @param low lower end of its 95 % interval: Wilson's with one called candidate a task, else by
   *     bootstrap over tasks; where all tasks agree, Wilson's with one a task
   */
  public record Conversion(
      @Nullable String category,
      int called,
      int correct,
      @Nullable Double share,
      @Nullable Double low,
      @Nullable Double high) {
    static Conversion of(@Nullable String category, List<VerdictRow> rows) {
      Map<String, List<VerdictRow>> tasks =
          by(rows.stream().filter(VerdictRow::called).toList(), VerdictRow::path);
      double[] called = tasks.values().stream().mapToDouble(List::size).toArray();
      double[] correct =
          tasks.values().stream()
              .mapToDouble(own -> own.stream().filter(Iterations::isCorrect).count())
              .toArray();
      int all = (int) Arrays.stream(called).sum();
      int right = (int) Arrays.stream(correct).sum();
      if (all == 0) return new Conversion(category, 0, 0, null, null, null);
      double share = (double) right / all;
      boolean alike =
          all == called.length
              || IntStream.range(0, called.length)
                  .allMatch(i -> correct[i] * all == called[i] * right);
      Bootstrap.Interval interval =
          alike ? Rate.interval(share, called.length) : Bootstrap.ofRatio(correct, called);
      return new Conversion(category, all, right, share, interval.low(), interval.high());
    }
  }

  /**
   * The chance that the best of k samples is correct, and more than p times as fast as the
   * baseline; the mean over tasks with k samples or more.
   *
   * @param p null for being correct alone: pass@k
   * @param tasks number of tasks with k samples or more
   * @param value null if there is none, or a correct sample has no speedup
   * @param low lower end of the 95 % interval by bootstrap over tasks; null if tasks agree
   * @param allPass the chance that all k samples are so: pass^k; null as {@code value}
   */
  public record Sampled(
      int k,
      @Nullable Double p,
      int tasks,
      @Nullable Double value,
      @Nullable Double low,
      @Nullable Double high,
      @Nullable TaskMean allPass) {}

  static MethodRates of(
      MethodAndModel maker,
      List<VerdictRow> rows,
      List<VerdictRow> unjudged,
      List<Outcome> measured,
      CategorySizes sizes,
      List<Integer> ks,
      List<Double> ps) {
    Map<String, List<VerdictRow>> categories = by(rows, VerdictRow::category);
    List<OfOutcome> outcomes = new ArrayList<>();
    for (Outcome outcome : measured) {
      List<Share> shares = new ArrayList<>();
      sizes
          .byCategory()
          .forEach((category, size) ->
              shares.add(
                  share(category, outcome, categories.getOrDefault(category, List.of()), size)));
      outcomes.add(new OfOutcome(outcome, share(null, outcome, rows, sizes.total()), shares));
    }
    List<Conversion> conversion = new ArrayList<>();
    List<Sampled> samples = new ArrayList<>();
    if (measured.contains(Outcome.CORRECT)) {
      conversion.add(Conversion.of(null, rows));
      categories.forEach((category, own) -> conversion.add(Conversion.of(category, own)));
      samples.addAll(samples(rows, measured, ks, ps));
    }
    Set<String> judged = by(rows, VerdictRow::path).keySet();
    Set<String> others = new HashSet<>(by(unjudged, VerdictRow::path).keySet());
    others.removeAll(judged);
    return new MethodRates(
        maker,
        rows.size(),
        judged.size(),
        others.size(),
        outcomes,
        conversion,
        samples,
        measured.contains(Outcome.FASTER) ? SetSpeedup.of(rows) : null);
  }

  private static Map<String, List<VerdictRow>> by(
      List<VerdictRow> rows, Function<VerdictRow, String> key) {
    Map<String, List<VerdictRow>> groups = new LinkedHashMap<>();
    for (VerdictRow row : rows) {
      groups.computeIfAbsent(key.apply(row), _ -> new ArrayList<>()).add(row);
    }
    return groups;
  }

  private static Share share(
      @Nullable String category, Outcome outcome, List<VerdictRow> rows, int asked) {
    int passes = 0;
    int unmeasured = 0;
    Map<String, int[]> counts = new LinkedHashMap<>();
    for (VerdictRow row : rows) {
      Boolean passed = outcome.of(row);
      if (passed == null) unmeasured++;
      int[] count = counts.computeIfAbsent(row.path(), _ -> new int[2]);
      count[0]++;
      if (Objects.equals(passed, true)) {
        count[1]++;
        passes++;
      }
    }
    int tasks = counts.size();
    if (tasks == 0 || unmeasured > 0) {
      return new Share(category, passes, tasks, asked, unmeasured, null, null, null);
    }
    TaskShare share = TaskShare.of(counts.values());
    return new Share(category, passes, tasks, asked, 0, share.value(), share.low(), share.high());
  }

  private static List<Sampled> samples(
      List<VerdictRow> rows, List<Outcome> measured, List<Integer> ks, List<Double> ps) {
    Map<String, List<VerdictRow>> tasks = by(rows, VerdictRow::path);
    List<Sampled> samples = new ArrayList<>();
    for (int k : ks) {
      samples.add(sampled(tasks, k, null));
      if (!measured.contains(Outcome.FASTER)) continue;
      for (double p : ps) samples.add(sampled(tasks, k, p));
    }
    return samples;
  }

  private static Sampled sampled(Map<String, List<VerdictRow>> tasks, int k, @Nullable Double p) {
    List<PassAtK> entered = new ArrayList<>();
    boolean known = true;
    for (List<VerdictRow> samples : tasks.values()) {
      if (samples.size() < k) continue;
      List<VerdictRow> correct = samples.stream().filter(Iterations::isCorrect).toList();
      int passes = correct.size();
      if (p != null) {
        List<Double> speedups = Iterations.speedups(correct);
        known &= speedups.size() == correct.size();
        passes = (int) speedups.stream().filter(speedup -> speedup > p).count();
      }
      entered.add(new PassAtK(samples.size(), passes));
    }
    if (!known || entered.isEmpty()) {
      return new Sampled(k, p, entered.size(), null, null, null, null);
    }
    TaskMean mean = PassAtK.taskMean(entered, k);
    return new Sampled(
        k,
        p,
        entered.size(),
        mean.value(),
        mean.low(),
        mean.high(),
        PassAtK.taskMeanOfAll(entered, k));
  }
}
