package dev.kbx.analysis;

import dev.kbx.stats.Quantile;
import dev.kbx.stats.Ratio;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.BriefVerdict.Efficiency;
import dev.kbx.verdict.Verdict.Bound;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * How well correct kernels use their device: position on the roofline, share of its peak, memory.
 * Each counts with the size that takes the reference longest.
 *
 * @param correct correct candidates
 * @param untimed of them without such figures: not timed, or of an earlier version
 * @param groups all kernels, then those of each category, then those of each method and model
 * @param kernels the kernels that count
 */
public record DeviceUse(
    Inclusion entered,
    @Nullable String unmeasured,
    int correct,
    int untimed,
    List<Group> groups,
    List<Kernel> kernels) {

  /** One kernel at its largest size, and its memory over all. */
  public record Kernel(
      MethodAndModel maker,
      String category,
      String task,
      String candidate,
      String device,
      Efficiency largest,
      @Nullable Double utilisation,
      @Nullable Double memory) {
    private String path() {
      return category + "/" + task;
    }
  }

  /**
   * Kernels of a group.
   *
   * @param category null for all categories
   * @param maker null for all methods and models
   * @param bounds how many are limited by what; the others are not known
   * @param utilisation share of the peak of bandwidth or arithmetic, the larger of both
   * @param solScore speed-of-light score
   * @param memory peak memory ÷ the reference's
   */
  public record Group(
      @Nullable String category,
      @Nullable MethodAndModel maker,
      int kernels,
      int tasks,
      Map<Bound, Integer> bounds,
      @Nullable Figure utilisation,
      @Nullable Figure solScore,
      @Nullable MemoryRatio memory) {}

  /** Quartiles of a figure, of the kernels of which it is known. */
  public record Figure(int kernels, double lower, double median, double upper) {}

  /**
   * Geometric mean over tasks, a task counting with the mean of its kernels.
   *
   * @param above kernels that take more than the reference
   * @param low lower end of the 95 % bootstrap interval over tasks; null for one task
   */
  public record MemoryRatio(
      int kernels,
      int tasks,
      int above,
      double mean,
      @Nullable Double low,
      @Nullable Double high) {}

  /** The use by the candidates of all runs; of several rounds the last one counts. */
  public static DeviceUse of(SelectedRuns runs) {
    Pool pool = runs.pool(Pool.Rounds.LAST);
    List<VerdictRow> correct = pool.rows().stream().filter(Iterations::isCorrect).toList();
    List<Kernel> kernels =
        correct.stream().map(DeviceUse::kernel).filter(Objects::nonNull).toList();
    List<Group> groups = new ArrayList<>();
    if (!kernels.isEmpty()) {
      groups.add(group(null, null, kernels));
      Map<String, List<Kernel>> categories = new TreeMap<>();
      Map<MethodAndModel, List<Kernel>> makers = new TreeMap<>();
      for (Kernel kernel : kernels) {
        categories.computeIfAbsent(kernel.category(), _ -> new ArrayList<>()).add(kernel);
        makers.computeIfAbsent(kernel.maker(), _ -> new ArrayList<>()).add(kernel);
      }
      categories.forEach((category, own) -> groups.add(group(category, null, own)));
      makers.forEach((maker, own) -> groups.add(group(null, maker, own)));
    }
    return new DeviceUse(
        pool.entered(),
        kernels.isEmpty() ? Outcome.FASTER.unmeasuredIn(runs) : null,
        correct.size(),
        correct.size() - kernels.size(),
        groups,
        kernels);
  }

  private static @Nullable Kernel kernel(VerdictRow row) {
    BriefVerdict.Sizes sizes = row.sizes();
    Efficiency largest = sizes == null ? null : sizes.largest();
    if (sizes == null || largest == null) return null;
    return new Kernel(
        MethodAndModel.of(row),
        row.category(),
        row.task(),
        row.candidate(),
        row.device().name(),
        largest,
        largest.utilisation(),
        sizes.memory());
  }

  private static Group group(
      @Nullable String category, @Nullable MethodAndModel maker, List<Kernel> kernels) {
    Map<Bound, Integer> bounds = new TreeMap<>();
    for (Kernel kernel : kernels) {
      Bound bound = kernel.largest().bound();
      if (bound != null) bounds.merge(bound, 1, Integer::sum);
    }
    return new Group(
        category,
        maker,
        kernels.size(),
        (int) kernels.stream().map(Kernel::path).distinct().count(),
        bounds,
        figure(kernels, kernel -> known(kernel.utilisation())),
        figure(kernels, kernel -> known(kernel.largest().solScore())),
        memory(kernels));
  }

  private static double known(@Nullable Double value) {
    return value == null ? Double.NaN : value;
  }

  private static @Nullable Figure figure(List<Kernel> kernels, ToDoubleFunction<Kernel> value) {
    double[] known =
        kernels.stream().mapToDouble(value).filter(each -> !Double.isNaN(each)).sorted().toArray();
    if (known.length == 0) return null;
    return new Figure(
        known.length, Quantile.of(known, 0.25), Quantile.of(known, 0.5), Quantile.of(known, 0.75));
  }

  private static @Nullable MemoryRatio memory(List<Kernel> kernels) {
    Map<String, List<Double>> tasks = new LinkedHashMap<>();
    int above = 0;
    int count = 0;
    for (Kernel kernel : kernels) {
      Double memory = kernel.memory();
      if (memory == null) continue;
      count++;
      if (memory > 1) above++;
      tasks.computeIfAbsent(kernel.path(), _ -> new ArrayList<>()).add(memory);
    }
    if (tasks.isEmpty()) return null;
    double[] means =
        tasks.values().stream()
            .mapToDouble(
                all -> Ratio.geometricMean(all.stream().mapToDouble(Double::doubleValue).toArray()))
            .toArray();
    boolean alike = Arrays.stream(means).distinct().count() == 1;
    Ratio ratio = alike ? null : Ratio.ofTasks(means);
    return new MemoryRatio(
        count,
        means.length,
        above,
        Ratio.geometricMean(means),
        ratio == null ? null : (Double) ratio.low(),
        ratio == null ? null : (Double) ratio.high());
  }
}
