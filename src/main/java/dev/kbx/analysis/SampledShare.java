package dev.kbx.analysis;

import dev.kbx.stats.Bootstrap;
import dev.kbx.stats.PassAtK;
import dev.kbx.stats.Rate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Mean over tasks of the share of a task's samples that pass. Samples of one task are not
 * independent, so that tasks are resampled where some have several.
 *
 * @param low lower end of its 95 % interval: Wilson's for one sample a task, else by bootstrap over
 *     tasks; null if these all have the same share
 */
record SampledShare(double value, @Nullable Double low, @Nullable Double high) {

  /**
   * The share.
   *
   * @param counts samples and passes of each task with a sample
   * @param asked number of tasks, at least 1; those without a sample count as 0
   */
  static SampledShare of(Collection<int[]> counts, int asked) {
    if (counts.stream().allMatch(count -> count[0] == 1)) {
      Rate rate = new Rate(counts.stream().mapToInt(count -> count[1]).sum(), asked);
      return new SampledShare(rate.value(), rate.low(), rate.high());
    }
    List<PassAtK> tasks = new ArrayList<>();
    for (int[] count : counts) tasks.add(new PassAtK(count[0], count[1]));
    while (tasks.size() < asked) tasks.add(new PassAtK(1, 0));
    Bootstrap.Interval interval = interval(tasks, 1);
    return new SampledShare(
        PassAtK.mean(tasks, 1),
        interval == null ? null : interval.low(),
        interval == null ? null : interval.high());
  }

  /** The bootstrap interval of pass@k over tasks; null if these all have the same. */
  static Bootstrap.@Nullable Interval interval(List<PassAtK> tasks, int k) {
    boolean agree = tasks.stream().mapToDouble(task -> task.of(k)).distinct().count() < 2;
    return agree ? null : PassAtK.interval(tasks, k);
  }
}
