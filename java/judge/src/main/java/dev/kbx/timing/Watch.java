package dev.kbx.timing;

import dev.kbx.outcome.Attribution;
import dev.kbx.outcome.Outcome;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import dev.kbx.verdict.Stage;
import dev.kbx.worker.RunnerMessage;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Attributes results at benchmark sizes: a candidate may use its kernels at the small sizes of the
 * correctness stage and a library at these. Watched calls are not timed, since watching costs time;
 * recording is watched, since the graphs are timed.
 */
public final class Watch {
  private final Policy policy;
  private final Task task;
  private final boolean contributes;
  private boolean incomplete;

  /**
   * @param contributes whether {@linkplain Attribution#contributes() kernels are known} to do more
   *     than copy
   */
  public Watch(Policy policy, Task task, boolean contributes) {
    this.policy = policy;
    this.task = task;
    this.contributes = contributes;
  }

  /**
   * Judges the accounts of watched calls. Empty if those computed their results that the policy
   * allows.
   *
   * @param where {@code at (1024, 1024)}
   */
  Optional<Outcome> judge(List<RunnerMessage.@Nullable Origin> accounts, String where) {
    Attribution origins = new Attribution(contributes);
    accounts.forEach(origins::add);
    incomplete |= origins.incomplete();
    return origins.judge(policy, task, Stage.PERF, where + ", ");
  }

  /** As {@link Attribution#incomplete()}, for any watched call. */
  boolean incomplete() {
    return incomplete;
  }
}
