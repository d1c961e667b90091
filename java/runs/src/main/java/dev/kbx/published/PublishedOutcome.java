package dev.kbx.published;

import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import org.jspecify.annotations.Nullable;

/**
 * What a record says of a kernel.
 *
 * @param status {@link Status#FAILED} where the record says that it failed, not how
 * @param stage the last one that it reached
 * @param callOk null where that is not stated, like {@code exeOk} and {@code perfOk}
 * @param speedup null where none is stated, or none that a speedup can be
 */
public record PublishedOutcome(
    Status status,
    Stage stage,
    @Nullable Boolean callOk,
    @Nullable Boolean exeOk,
    @Nullable Boolean perfOk,
    @Nullable String message,
    @Nullable Double speedup) {

  /** A correct kernel. */
  static PublishedOutcome correct(boolean timed, @Nullable Double speedup) {
    return new PublishedOutcome(
        Status.CORRECT, timed ? Stage.PERF : Stage.CORRECT, true, true, timed, null, speedup);
  }

  /** A kernel that could not be called. */
  static PublishedOutcome notCalled(Status status, Stage stage, @Nullable String message) {
    return new PublishedOutcome(status, stage, false, false, null, message, null);
  }

  /** A kernel that was called and whose results are wrong. */
  static PublishedOutcome wrong(Status status, @Nullable String message) {
    return new PublishedOutcome(status, Stage.CORRECT, true, false, null, message, null);
  }

  /** A kernel of which only that is said. */
  static PublishedOutcome failed(@Nullable String message) {
    return new PublishedOutcome(Status.FAILED, Stage.CORRECT, null, false, null, message, null);
  }
}
