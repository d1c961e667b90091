package dev.kbx.server;

import dev.kbx.judge.JudgingDevice;
import dev.kbx.judge.Referee;
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
 */
public record Machine(
    Referee referee,
    Verdict.Device device,
    Map<String, String> versions,
    String secret,
    Map<String, Suite> suites,
    Statement statement) {
  public Machine {
    versions = Map.copyOf(versions);
    suites = new LinkedHashMap<>(suites);
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
