package dev.kbx.timing;

import dev.kbx.outcome.Attribution;
import dev.kbx.outcome.Outcome;
import dev.kbx.task.Policy;
import dev.kbx.verdict.Stage;
import dev.kbx.worker.RunnerMessage;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who makes the results at benchmark sizes: a candidate may use its kernels at the small sizes of
 * the correctness stage and a library at these. Calls that are watched are not timed, since
 * watching costs time; what is recorded is watched, since that is what is timed.
 */
public final class Watch {
  private final Policy policy;
  private boolean incomplete;

  public Watch(Policy policy) {
    this.policy = policy;
  }

  /**
   * By the accounts of calls that were watched. Empty if the candidate's own kernels made their
   * results.
   *
   * @param where {@code at (1024, 1024)}
   */
  Optional<Outcome> judge(List<RunnerMessage.@Nullable Origin> accounts, String where) {
    Attribution origins = new Attribution();
    accounts.forEach(origins::add);
    incomplete |= origins.incomplete();
    return origins.judge(policy, Stage.PERF, where + ", ");
  }

  /** As {@link Attribution#incomplete()}, of any call. */
  boolean incomplete() {
    return incomplete;
  }
}
