package dev.kbx.judge;

import dev.kbx.outcome.Outcome;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Status.Blame;
import org.jspecify.annotations.Nullable;

/**
 * What the published tests would say of a candidate: whether its calls of the published grade run,
 * and whether each is right by the rule that the suite's authors publish. kbx's own rules (its
 * error model, memory, order, repeats, arguments that must stay) and who computed make no
 * difference.
 */
final class PublishedRule {
  private boolean returned;
  private boolean compared;
  private boolean failed;
  private boolean wrong;
  private boolean unknown;
  private boolean guarded;

  /** A call returned, and its result is not compared. */
  void returned() {
    returned = true;
  }

  /** A call returned, and its result was compared. */
  void compared(boolean right) {
    returned = true;
    compared = true;
    wrong |= !right;
  }

  /** A call did not return, or no call can be made any more. */
  void ended(Outcome how) {
    guarded |= how.status() == Status.OUT_OF_BOUNDS;
    if (guarded || how.status().blame() != Blame.CANDIDATE) unknown = true;
    else failed = true;
  }

  /** Not all calls can be made, for a reason that says nothing about the candidate. */
  void cut() {
    unknown = true;
  }

  /** The candidate's process broke the protocol: nothing that it returned counts. */
  void deceived() {
    wrong = true;
  }

  /** Whether a further call may still change the answer. */
  boolean open() {
    return !failed && !wrong && !unknown;
  }

  /** Whether a guard page ended a call, which the published tests do not have. */
  boolean stoppedByGuard() {
    return guarded;
  }

  /** Whether all calls run; null if none was made, or not known. */
  @Nullable Boolean ran() {
    if (failed) return false;
    return (unknown || !returned) ? null : Boolean.TRUE;
  }

  /** Whether all results are right; null if none was compared, or not known. */
  @Nullable Boolean right() {
    if (failed || wrong) return false;
    return (unknown || !compared) ? null : Boolean.TRUE;
  }

  /** Whether any call was asked for. */
  boolean asked() {
    return returned || failed || unknown;
  }
}
