package dev.kbx.analysis;

import dev.kbx.analysis.JointDeviance.Test;
import dev.kbx.stats.BinomialDeviance;
import dev.kbx.stats.Logistic;
import dev.kbx.stats.RandomIntercept;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The joint model with a random intercept for the task: tasks differ beyond what the factors say,
 * so that the candidates of one task are not independent. Its tests are those to trust where a task
 * has several candidates.
 *
 * @param deviation standard deviation between tasks, log odds
 * @param share of the remaining variance that lies between tasks, on that scale
 * @param p probability of this deviation if tasks do not differ: half of the χ² one, as 0 is the
 *     end of its range
 * @param factors what the deviance rises by without each
 */
public record TaskIntercept(double deviation, double share, double p, List<Part> factors) {

  /** A factor's test; shares are those of the null deviance without a random intercept. */
  public record Part(String factor, Test test) {}

  static TaskIntercept of(JointFactors joint) {
    CellCounts counts = joint.counts();
    int[] cells = IntStream.range(0, counts.pairs()).map(counts::cell).toArray();
    double[] passes = counts.passes();
    double[] trials = counts.trials();
    int[] tasks = counts.tasks();
    var full = joint.over(cells, -1);
    RandomIntercept fit = RandomIntercept.fit(full, passes, trials, tasks);
    double fixed = Logistic.fit(full, passes, trials).deviance();
    double nullDeviance = BinomialDeviance.ofAll(passes, trials);
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < joint.factors().size(); i++) {
      var without = joint.over(cells, i);
      double rise = RandomIntercept.fit(without, passes, trials, tasks).deviance() - fit.deviance();
      int df = full.rank(trials) - without.rank(trials);
      parts.add(new Part(joint.factors().get(i).name(), Test.of(rise, df, nullDeviance, null)));
    }
    double gained = Math.max(0, fixed - fit.deviance());
    return new TaskIntercept(
        fit.deviation(),
        fit.sharedVariance(),
        gained == 0 ? 1 : BinomialDeviance.pValue(gained, 1) / 2,
        parts);
  }

  /** Whether some task has several candidates: otherwise tasks cannot be told from chance. */
  static boolean isFor(Trials trials) {
    int[] ofTask = new int[trials.taskCount()];
    for (int i = 0; i < trials.count(); i++) ofTask[trials.task(i)]++;
    return Arrays.stream(ofTask).anyMatch(count -> count > 1);
  }
}
