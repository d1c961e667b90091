package dev.kbx.server;

import dev.kbx.judge.JudgingDevice;
import dev.kbx.judge.Referee;
import dev.kbx.plan.Plan;
import dev.kbx.prompt.Statement;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Verdict;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the service judges with.
 *
 * @param device of the first slot
 * @param versions of the software that judges, by name
 * @param secret that seeds derive from
 * @param suites by name; the first is that of candidates that name none
 * @param statement writes what tasks ask for
 * @param experts sources of kernels that candidates are timed beside, by suite, then by the path of
 *     their task
 */
public record Machine(
    Referee referee,
    Verdict.Device device,
    Map<String, String> versions,
    String secret,
    Map<String, Suite> suites,
    Statement statement,
    Map<String, Map<String, String>> experts) {
  public Machine {
    versions = Map.copyOf(versions);
    suites = new LinkedHashMap<>(suites);
    experts = Map.copyOf(experts);
  }

  /** Without kernels of experts. */
  public Machine(
      Referee referee,
      Verdict.Device device,
      Map<String, String> versions,
      String secret,
      Map<String, Suite> suites,
      Statement statement) {
    this(referee, device, versions, secret, suites, statement, Map.of());
  }

  /** The same, which times candidates beside these kernels. */
  public Machine beside(Map<String, Map<String, String>> kernels) {
    return new Machine(referee, device, versions, secret, suites, statement, kernels);
  }

  /** The plan of requests that name none, without kernels of experts. */
  public Plan usualPlan() {
    return Plans.of(null, secret);
  }

  /** A plan for candidates of a suite: beside the kernels of experts that there are for it. */
  Plan beside(Suite suite, Plan plan) {
    return plan.beside(experts.getOrDefault(suite.name(), Map.of()));
  }

  /** The kernel that candidates for a task are timed beside. */
  Optional<String> expert(Suite suite, Task task) {
    return Optional.ofNullable(experts.getOrDefault(suite.name(), Map.of()).get(task.path()));
  }

  /** What judges, as it is now. */
  List<JudgingDevice> devices() {
    List<JudgingDevice> devices = referee.devices();
    return devices.isEmpty()
        ? List.of(new JudgingDevice(device, JudgingDevice.State.READY))
        : devices;
  }

  /** The task at {@code Category/name} of a suite. */
  Optional<Task> task(String suite, String path) {
    return suite(suite).flatMap(served -> served.task(path));
  }

  /** The suite of that name; the first without a name. */
  Optional<Suite> suite(@Nullable String name) {
    return name == null
        ? suites.values().stream().findFirst()
        : Optional.ofNullable(suites.get(name));
  }
}
