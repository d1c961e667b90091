package dev.kbx.analysis;

import dev.kbx.stats.Bootstrap;
import dev.kbx.stats.Rate;
import dev.kbx.stats.TaskMean;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A share of tries that pass, over the tasks that were tried: every rate of methods, models and
 * rounds. How many were tried is told beside it. Tries of one task are not independent, so tasks
 * are resampled where some have several.
 *
 * @param value between 0 and 1: the mean of the tasks' shares
 * @param low lower end of its 95 % interval: Wilson's if each task has one try, else by a bootstrap
 *     over tasks. Where all tasks agree, as where none passes, that has no spread: then Wilson's, a
 *     task counting as one try, as the tries of one may all end alike
 */
public record TaskShare(int passes, int total, double value, double low, double high) {

  /**
   * The share.
   *
   * @param counts tries and passes of each task with a try, one at least
   */
  static TaskShare of(Collection<int[]> counts) {
    int passes = counts.stream().mapToInt(count -> count[1]).sum();
    int total = counts.stream().mapToInt(count -> count[0]).sum();
    if (counts.stream().allMatch(count -> count[0] == 1)) {
      Rate rate = new Rate(passes, total);
      return new TaskShare(passes, total, rate.value(), rate.low(), rate.high());
    }
    double[] shares = counts.stream().mapToDouble(count -> (double) count[1] / count[0]).toArray();
    TaskMean mean = TaskMean.of(shares);
    Double low = mean.low();
    Double high = mean.high();
    Bootstrap.Interval interval =
        low == null || high == null
            ? Rate.interval(mean.value(), shares.length)
            : new Bootstrap.Interval(low, high);
    return new TaskShare(passes, total, mean.value(), interval.low(), interval.high());
  }

  /** Passes of the tries of each task. */
  static final class Tries {
    private final Map<String, List<Boolean>> byTask = new LinkedHashMap<>();

    void add(String task, boolean pass) {
      byTask.computeIfAbsent(task, _ -> new ArrayList<>()).add(pass);
    }

    /** Null without a try. */
    @Nullable TaskShare share() {
      if (byTask.isEmpty()) return null;
      List<int[]> counts =
          byTask.values().stream().map(tries -> new int[] {tries.size(), passes(tries)}).toList();
      return of(counts);
    }

    private static int passes(List<Boolean> tries) {
      return (int) tries.stream().filter(pass -> pass).count();
    }
  }
}
