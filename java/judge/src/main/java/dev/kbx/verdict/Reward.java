package dev.kbx.verdict;

import dev.kbx.verdict.Verdict.Speedup;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;

/**
 * The reward of a judgement, from 0 to 1: what {@code kbx.shape} of the Python client gives with
 * its defaults (docs/reward.md). A candidate gets the level of the furthest step that it passed; a
 * correct one gets more for being its own work, right at the general grade, and fast.
 */
public final class Reward {
  private static final double PARSED = 0.05;
  private static final double CALLED = 0.15;
  private static final double RIGHT = 0.4;
  private static final double OWN = 0.1;
  private static final double GENERAL = 0.1;
  private static final double SPEED = 0.4;

  /** The lower end of the speedup's interval that earns all of {@link #SPEED}; 1 earns nothing. */
  private static final double SPEED_FULL = 4;

  /**
   * Flags with which nobody but the candidate's own process says who computed: nothing is right.
   */
  private static final Set<String> WHOSE = Set.of("no_origin", "unproven_origin");

  /** Flags that leave a speedup in doubt, beside these. */
  private static final Set<String> DOUBTS =
      Set.of("clock_gap", "state_ignored", "degenerate_task", "large_workspace", "same_values");

  private Reward() {}

  /** The reward; empty if the judgement says nothing about the candidate. */
  public static Optional<Double> of(Judgement judgement) {
    return switch (judgement.status().blame()) {
      case KBX, TASK -> Optional.empty();
      case CANDIDATE, NOBODY -> Optional.of(judged(judgement));
    };
  }

  private static double judged(Judgement judgement) {
    return switch (judgement.status()) {
      case REJECTED_STATIC, NOT_A_KERNEL, CHEATING, NO_CODE, NO_ENTRY, SYNTAX_ERROR -> 0;
      default -> isRight(judgement) ? right(judgement) : isCalled(judgement) ? CALLED : PARSED;
    };
  }

  private static boolean isCalled(Judgement judgement) {
    return Boolean.TRUE.equals(judgement.callOk());
  }

  /** Also where it only failed to be timed. */
  private static boolean isRight(Judgement judgement) {
    Status status = judgement.status();
    if (judgement.withoutPolicy() != null || status.refuted() || judgement.exeOk() == null) {
      return false;
    }
    if (!Collections.disjoint(judgement.flags(), WHOSE)) return false;
    return status == Status.CORRECT || (judgement.stage() == Stage.PERF && isCalled(judgement));
  }

  private static double right(Judgement judgement) {
    double general = Boolean.TRUE.equals(judgement.generalOk()) ? GENERAL : 0;
    double more = ownShare(judgement) * (OWN + SPEED * speed(judgement));
    return Math.min(RIGHT + OWN + GENERAL + SPEED, RIGHT + general + more);
  }

  /** At the policy {@code kernel} a correct result is the candidate's own. */
  private static double ownShare(Judgement judgement) {
    if ("kernel".equals(judgement.policy())) return 1;
    return judgement.origin() == null ? 0 : Math.clamp(judgement.origin().kernelShare(), 0, 1);
  }

  /** From 0 to 1, by the logarithm of the lower end of the 95 % interval. */
  private static double speed(Judgement judgement) {
    Speedup speedup = judgement.speedup();
    boolean doubtful = !Collections.disjoint(judgement.flags(), DOUBTS);
    if (speedup == null || judgement.status() != Status.CORRECT || doubtful) return 0;
    double low = speedup.low();
    return low > 1 ? Math.min(1, Math.log(low) / Math.log(SPEED_FULL)) : 0;
  }
}
