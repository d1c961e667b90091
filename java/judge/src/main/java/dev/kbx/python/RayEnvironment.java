package dev.kbx.python;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the Python that speaks to a Ray cluster. Ray demands its own version and Python's to be
 * those of the cluster, so in this order:
 *
 * <ol>
 *   <li>the interpreter named by {@code KBX_RAY_PYTHON};
 *   <li>{@code python3} on the {@code PATH} if it has Ray: on a node of the cluster it is the
 *       cluster's own;
 *   <li>kbx's own environment with the pinned Ray, provisioned at first use.
 * </ol>
 */
public final class RayEnvironment {
  /** Names an interpreter in the environment. */
  public static final String VARIABLE = "KBX_RAY_PYTHON";

  private RayEnvironment() {}

  /**
   * Returns an interpreter that has Ray, provisioning one if need be (a minute, once).
   *
   * @param environment the process's
   * @param home kbx's folder, with {@code bridge/requirements.txt}
   */
  public static Interpreter resolve(Map<String, String> environment, Path home, Progress progress)
      throws InterruptedException {
    String named = environment.getOrDefault(VARIABLE, "");
    if (!named.isEmpty()) {
      return withRay(Path.of(named), environment)
          .orElseThrow(() ->
              new PythonProblem(
                  "%s names %s, which is not a Python with ray; name the one that the cluster runs on"
                      .formatted(VARIABLE, named)));
    }
    Optional<Interpreter> found = withRay(Path.of("python3"), environment);
    if (found.isPresent()) return found.get();
    Provisioner own = Provisioner.of(home, Provisioner.Packages.RAY);
    Optional<Interpreter> existing = own.existing();
    if (existing.isPresent()) return existing.get();
    Path base = new PythonEnvironment(environment, home.toAbsolutePath(), progress).base();
    return own.provision(base, environment, progress);
  }

  private static Optional<Interpreter> withRay(Path name, Map<String, String> environment)
      throws InterruptedException {
    Optional<Path> python = PythonEnvironment.find(name, environment);
    if (python.isEmpty()) return Optional.empty();
    try {
      Probe probe = Probe.of(python.get(), environment);
      if (!probe.versions().keySet().containsAll(List.of("ray", "python"))) return Optional.empty();
      return Optional.of(new Interpreter(probe.executable(), probe.versions(), false));
    } catch (PythonProblem e) {
      return Optional.empty();
    }
  }
}
