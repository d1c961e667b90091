package dev.kbx.stats;

import java.util.List;

/**
 * pass@k and pass^k of one task.
 *
 * <p>pass@k: the probability that at least one passes of k samples of a task, drawn without
 * replacement from the existing ones. The unbiased estimate of M. Chen et al., "Evaluating Large
 * Language Models Trained on Code" (2021), section 2.1, as the product that its figure 3 computes:
 * no binomial coefficient overflows, and the value never decreases with k, not even by rounding.
 *
 * <p>pass^k: the probability that all of them pass, by the unbiased estimate of S. Yao et al.,
 * "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains" (2024), section 4.
 *
 * @param samples of one task
 * @param passes of them, from 0 to {@code samples}
 */
public record PassAtK(int samples, int passes) {
  public PassAtK {
    if (passes < 0 || passes > samples) {
      throw new IllegalArgumentException(passes + " passes of " + samples + " samples");
    }
  }

  /**
   * 1 − C(samples − passes, k) ÷ C(samples, k).
   *
   * @param k from 1 to {@code samples}; unknown beyond
   */
  public double of(int k) {
    check(k, "pass@");
    if (samples - passes < k) return 1;
    double allFail = 1;
    for (int i = samples - passes + 1; i <= samples; i++) allFail *= 1 - (double) k / i;
    return 1 - allFail;
  }

  /**
   * pass^k: C(passes, k) ÷ C(samples, k).
   *
   * @param k from 1 to {@code samples}; unknown beyond
   */
  public double ofAll(int k) {
    check(k, "pass^");
    double allPass = 1;
    for (int i = 0; i < Math.min(k, passes + 1); i++) {
      allPass *= (double) (passes - i) / (samples - i);
    }
    return allPass;
  }

  private void check(int k, String name) {
    if (k < 1 || k > samples) {
      throw new IllegalArgumentException(name + k + " of " + samples + " samples");
    }
  }

  /**
   * The mean over tasks.
   *
   * @param tasks at least one, each with k samples or more
   */
  public static double mean(List<PassAtK> tasks, int k) {
    return TaskMean.mean(tasks.stream().mapToDouble(task -> task.of(k)).toArray());
  }

  /** The mean over tasks with its interval by bootstrap over tasks. */
  public static TaskMean taskMean(List<PassAtK> tasks, int k) {
    return TaskMean.of(tasks.stream().mapToDouble(task -> task.of(k)).toArray());
  }

  /** The mean of pass^k over tasks with its interval by bootstrap over tasks. */
  public static TaskMean taskMeanOfAll(List<PassAtK> tasks, int k) {
    return TaskMean.of(tasks.stream().mapToDouble(task -> task.ofAll(k)).toArray());
  }
}
