package dev.kbx.plan;

import dev.kbx.check.Rules;
import dev.kbx.verdict.Against;
import dev.kbx.verdict.Stage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What every candidate of a run goes through.
 *
 * @param stages the stages asked for; the last one is where judging stops
 * @param rules the static rules that are switched on
 * @param arch what launches are compiled for where there is no GPU, {@code sm_90}
 * @param secret what seeds derive from; see {@link Seeds}
 * @param tolerance how near results must be
 * @param grade which calls decide that a candidate is correct
 * @param baseline what speedups are against
 * @param cache what calls are timed with
 * @param profile whether Nsight Compute looks at what was timed
 */
public record Plan(
    List<Stage> stages,
    Rules rules,
    String arch,
    String secret,
    Limits limits,
    Tolerance tolerance,
    Grade grade,
    Baseline baseline,
    L2State cache,
    boolean profile) {
  public Plan {
    if (stages.isEmpty()) throw new IllegalArgumentException("no stage asked for");
    stages = stages.stream().sorted().distinct().toList();
  }

  /**
   * A plan whose results are held to the error model at the general grade and whose speedups are
   * against eager PyTorch, with a cold cache and without profiles.
   */
  public Plan(List<Stage> stages, Rules rules, String arch, String secret, Limits limits) {
    this(
        stages,
        rules,
        arch,
        secret,
        limits,
        Tolerance.MODEL,
        Grade.GENERAL,
        Baseline.EAGER,
        L2State.COLD,
        false);
  }

  /** The same for a candidate whose task needs more than others. */
  public Plan with(MemoryRequirements needs) {
    Limits own = limits.with(needs);
    return new Plan(stages, rules, arch, secret, own, tolerance, grade, baseline, cache, profile);
  }

  /** What speedups are against, in words: {@code eager}, or {@code eager, warm cache}. */
  public String against() {
    return against(baseline, null);
  }

  /**
   * The same for one baseline.
   *
   * @param fastest which one that is, for {@link Baseline#BEST}
   */
  public String against(Baseline wanted, @Nullable String fastest) {
    return new Against(wanted.label(), fastest, warm()).toString();
  }

  public boolean warm() {
    return cache == L2State.WARM;
  }

  public boolean wants(Stage stage) {
    return stages.contains(stage);
  }

  /** Whether judging goes at least as far as {@code stage}. */
  public boolean reaches(Stage stage) {
    return stages.getLast().compareTo(stage) >= 0;
  }
}
