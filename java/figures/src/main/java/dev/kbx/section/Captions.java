package dev.kbx.section;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.Inclusion;
import dev.kbx.document.Cell;
import dev.kbx.document.Counted;
import dev.kbx.verdict.RunInfo;
import java.util.ArrayList;
import java.util.List;

/** Words that tables and figures about the same have in common. */
public final class Captions {
  private Captions() {}

  public static String rates() {
    return "Of several samples of a task, the share that passes counts. "
        + grades()
        + " Intervals: Wilson for one sample a task or where all tasks agree, else bootstrap over"
        + " tasks.";
  }

  /** {@code p = 0.013}, {@code p < 0.001}. */
  static String p(double p) {
    String text = Cell.probability(p).text();
    return text.startsWith("<") ? "p " + text : "p = " + text;
  }

  /** {@code p = 0.31 on 30 common tasks}. */
  public static String on(double p, int tasks) {
    return tasks == 0 ? "no common task" : p(p) + " on " + Counted.of(tasks, "common task");
  }

  /** How ranks are given. */
  public static String ranks() {
    return "each two are compared on the tasks that both tried, by the share of a task's samples"
        + " that are correct (exact permutation test over tasks, Holm over all pairs); those with"
        + " p of 0.05 or more are not told apart.";
  }

  static String speedup() {
    return "Speedup: geometric mean over the tasks of correct candidates, of several rounds the"
        + " last.";
  }

  /** What correct and general mean side by side. */
  static String grades() {
    return "Correct: at the grade of the run. General: correct at the general grade, too.";
  }

  public static String deviance() {
    return "Share of the deviance of each outcome that a factor alone explains: D² = 1 − D(factor)"
        + " ÷ D(null) of a logistic regression, with its 95 % interval from drawing tasks within"
        + " their categories.";
  }

  public static String iterations(Inclusion entered) {
    if (entered.ofChanges()) return "Attempts that are solved in a round or an earlier one.";
    return "Share of the tasks tried that are solved in a round or an earlier one, with its 95 %"
        + " interval: Wilson for one attempt a task or where all tasks agree, else bootstrap over"
        + " tasks.";
  }

  public static String fastP(String baseline) {
    return "fast_p against %s: share of the tasks tried whose candidate is correct and more than p times as fast as the baseline. One candidate a task: the first sample."
        .formatted(baseline);
  }

  static String budget(BudgetCurve.Kind kind) {
    return "Share of tasks with an answer that is correct in the final judgement, by %s until the first kernel of a trajectory that is correct on development inputs, or until the answer if nothing was judged there. Intervals: Wilson, 95 %%."
        .formatted(budgetAxis(kind));
  }

  static String budgetAxis(BudgetCurve.Kind kind) {
    return switch (kind) {
      case TURNS -> "turns for each task";
      case CALLS -> "calls for each task";
      case TOKENS -> "tokens for each task";
      case USD -> "USD for each task";
      case DEVICE_SECONDS -> "device seconds for each task";
    };
  }

  /**
   * How many records are not among the results, and why, as sentences after a blank; empty if all
   * are.
   */
  public static String leftOut(RunInfo.Published published) {
    List<String> parts = new ArrayList<>();
    Integer others = published.ofOtherTasks();
    if (published.unusable() > 0) {
      parts.add(
          "%d could not be used%s"
              .formatted(
                  published.unusable(),
                  others == null || others == 0
                      ? ""
                      : ", %d of these for no task of the suite".formatted(others)));
    }
    if (published.withoutOutcome() > 0) {
      parts.add("%d state no outcome".formatted(published.withoutOutcome()));
    }
    Integer moved = published.moved();
    if (moved != null && moved > 0) {
      parts.add("%d are for tasks that the suite has in another category".formatted(moved));
    }
    if (parts.isEmpty()) return "";
    return " Of %s %s."
        .formatted(Counted.of(published.records(), "record"), String.join("; ", parts));
  }
}
