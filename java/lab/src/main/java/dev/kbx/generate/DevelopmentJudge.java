package dev.kbx.generate;

import dev.kbx.candidate.Candidate;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Plan;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import java.util.Map;

/**
 * Judges kernels for feedback, on development inputs.
 *
 * @param plan of those judgements
 */
public record DevelopmentJudge(Referee referee, Plan plan) {
  private static final String ORIGIN = "generated";

  Judgement judge(Unit unit, Task task, String model, String code) throws InterruptedException {
    Candidate candidate =
        new Candidate(task, code, ORIGIN, unit.sample(), unit.method(), model, null);
    return referee.judge(candidate, plan);
  }

  /** Seconds of the processes that judged. */
  static double seconds(Judgement judgement) {
    double all = 0;
    for (Map.Entry<String, Double> stage : judgement.seconds().entrySet()) {
      if (!stage.getKey().equals("static")) all += stage.getValue();
    }
    return all;
  }
}
