package dev.kbx.run;

import dev.kbx.task.Policy;
import dev.kbx.verdict.Stage;
import dev.kbx.worker.Message;
import dev.kbx.worker.Runner;
import dev.kbx.worker.RunnerMessage;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import tools.jackson.databind.JsonNode;

/**
 * A call at a benchmark size for the sake of who makes its result: a candidate may use its kernels
 * at the small sizes of the correctness stage and a library at these. It is not timed, since
 * watching costs time.
 */
final class WatchedCall {
  private final Runner runner;
  private final Plan plan;
  private final Policy policy;
  private final SecureRandom random = new SecureRandom();

  WatchedCall(Runner runner, Plan plan, Policy policy) {
    this.runner = runner;
    this.plan = plan;
    this.policy = policy;
  }

  Policy policy() {
    return policy;
  }

  /** One of {@code bound} rounds: which of them is watched must not be known beforehand. */
  int round(int bound) {
    return random.nextInt(bound);
  }

  /**
   * Makes one of {@code calls} (as in {@code measure}) again, watched. Empty if the candidate's own
   * kernels made its result.
   */
  Optional<Outcome> judge(JsonNode calls, String shape) throws InterruptedException {
    JsonNode call = calls.get(random.nextInt(calls.size()));
    try {
      Message answer =
          runner.ask(
              RunnerMessage.Returned.class,
              id -> new RunnerMessage.Call(id, call.get("args"), call.get("kwargs")),
              plan.limits().size());
      return switch (answer) {
        case RunnerMessage.Returned returned -> origin(returned, shape);
        case RunnerMessage.Raised raised ->
            Optional.of(Outcome.raised(raised, false, false).at(Stage.PERF));
        default -> throw new IllegalStateException("a runner answers returned or raised");
      };
    } catch (TimeoutException e) {
      return Optional.of(Outcome.timeout(Stage.PERF, shape, plan.limits().size()));
    } catch (Runner.Lost e) {
      return Optional.of(Outcome.lost(e, Stage.PERF));
    }
  }

  private Optional<Outcome> origin(RunnerMessage.Returned returned, String shape) {
    Origins origins = new Origins();
    origins.add(returned.origin());
    return origins.judge(policy, Stage.PERF, "at " + shape + ", ");
  }
}
