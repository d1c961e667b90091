package dev.kbx.python;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the Python that workers run in. In this order:
 *
 * <ol>
 *   <li>the interpreter named by {@code --python};
 *   <li>the one named by {@code KBX_PYTHON};
 *   <li>kbx's own environment, where it has been provisioned;
 *   <li>{@code python3} on the {@code PATH} if it has torch and triton in tested versions: on a GPU
 *       node these are built for its driver, and often nothing can be downloaded there;
 *   <li>kbx's own environment, provisioned now: pinned versions in a folder of the project.
 * </ol>
 *
 * <p>A named interpreter is used as it is or refused, never replaced by another.
 */
public final class PythonEnvironment {
  /** Names an interpreter in the environment. */
  public static final String VARIABLE = "KBX_PYTHON";

  private static final List<String> BASES =
      List.of("python3", "python3.13", "python3.12", "python3.11", "python3.14", "python3.10");

  private final Map<String, String> environment;
  private final Path home;
  private final Progress progress;

  PythonEnvironment(Map<String, String> environment, Path home, Progress progress) {
    this.environment = environment;
    this.home = home;
    this.progress = progress;
  }

  /**
   * Returns an interpreter that has torch and triton, provisioning one if need be (minutes, once).
   *
   * @param explicit from {@code --python}
   * @param environment the process's; {@code KBX_PYTHON} and {@code PATH} are looked up in it and
   *     pip is configured by it
   * @param home the project's or the bundle's folder, with {@code worker/requirements.txt};
   *     environments go to {@code .kbx/} in it
   * @throws PythonProblem there is none, with what to do about it
   * @throws InterruptedException provisioning was interrupted; the next call starts it anew
   */
  public static Interpreter resolve(
      Optional<Path> explicit, Map<String, String> environment, Path home, Progress progress)
      throws InterruptedException {
    var resolution = new PythonEnvironment(environment, home.toAbsolutePath(), progress);
    Optional<Named> named = named(explicit, environment);
    return named.isPresent() ? resolution.probed(named.get()) : resolution.ownOrFound();
  }

  /**
   * Returns the interpreter that is named, else the one on the {@code PATH}, whatever packages it
   * has: for simulated workers.
   *
   * @throws PythonProblem there is none, or it does not run
   */
  public static Interpreter withoutPackages(
      Optional<Path> explicit, Map<String, String> environment) throws InterruptedException {
    Named named =
        named(explicit, environment).orElse(new Named(Path.of("python3"), "the simulation"));
    Probe probe = Probe.of(find(named, environment), environment);
    return new Interpreter(probe.executable(), probe.versions(), false);
  }

  /**
   * The interpreter that is named, else kbx's own, else the one on the {@code PATH}; empty if there
   * is none yet. It may lack packages, and was not started.
   */
  public static Optional<Path> present(
      Optional<Path> explicit, Map<String, String> environment, Path home) {
    Optional<Named> named = named(explicit, environment);
    if (named.isPresent()) return find(named.get().name(), environment);
    Optional<Path> python3 = find(Path.of("python3"), environment);
    try {
      return Provisioner.of(home).existing().map(Interpreter::executable).or(() -> python3);
    } catch (PythonProblem _) {
      return python3; // Not kbx's folder.
    }
  }

  /**
   * Looks for the file that {@code --python} names, or else {@code KBX_PYTHON}; starts nothing.
   *
   * @throws PythonProblem it is not there, or no program
   */
  public static void check(Optional<Path> explicit, Map<String, String> environment) {
    Optional<Named> named = named(explicit, environment);
    if (named.isPresent()) find(named.get(), environment);
  }

  /** An interpreter named by the user, and the option or variable that names it. */
  private record Named(Path name, String by) {}

  private static Optional<Named> named(Optional<Path> explicit, Map<String, String> environment) {
    if (explicit.isPresent()) return Optional.of(new Named(explicit.get(), "--python"));
    String variable = environment.getOrDefault(VARIABLE, "");
    return variable.isEmpty()
        ? Optional.empty()
        : Optional.of(new Named(Path.of(variable), VARIABLE));
  }

  private static Path find(Named named, Map<String, String> environment) {
    return find(named.name(), environment)
        .orElseThrow(() ->
            new PythonProblem(
                "%s names %s, which is %s; give the path of a python with torch and triton"
                    .formatted(named.by(), named.name(), whyNot(named.name()))));
  }

  private Interpreter probed(Named named) throws InterruptedException {
    String by = named.by();
    Path python = find(named, environment);
    Probe probe;
    try {
      probe = Probe.of(python, environment);
    } catch (PythonProblem e) {
      throw new PythonProblem(
          "%s: %s; give the path of a python with torch and triton".formatted(by, e.getMessage()),
          e.details());
    }
    String version = probe.versions().get("python");
    if (version == null || !Versions.isPythonNewEnough(version))
      throw new PythonProblem(
          "%s (%s) is Python %s; it must be %s"
              .formatted(python, by, version, Versions.pythonRange()));
    for (String need : List.of("torch", "triton"))
      if (probe.version(need).isEmpty())
        throw new PythonProblem(
            "%s (%s) has no %s; install it there, name another, or leave %s away and kbx installs its own"
                .formatted(python, by, need, by));
    untested(probe).forEach(line -> progress.note(line + ": " + probe.executable()));
    if (probe.version("numpy").isEmpty())
      progress.note("no numpy, so kernels cannot be run without a GPU: " + probe.executable());
    return new Interpreter(probe.executable(), probe.versions(), false);
  }

  private Interpreter ownOrFound() throws InterruptedException {
    Provisioner own = Provisioner.of(home);
    Optional<Interpreter> provisioned = own.existing();
    if (provisioned.isPresent()) return provisioned.get();
    Optional<Path> python3 = find(Path.of("python3"), environment);
    if (python3.isPresent()) {
      Optional<Interpreter> found = usable(python3.get());
      if (found.isPresent()) return found.get();
    }
    return own.provision(base(), environment, progress);
  }

  /** The Python found on the {@code PATH}, if it has everything in tested versions. */
  private Optional<Interpreter> usable(Path python) throws InterruptedException {
    Probe probe;
    try {
      probe = Probe.of(python, environment);
    } catch (PythonProblem e) {
      return Optional.empty();
    }
    if (!probe.versions().keySet().containsAll(List.of("torch", "triton", "numpy")))
      return Optional.empty();
    if (!Versions.isPythonNewEnough(probe.versions().getOrDefault("python", "")))
      return Optional.empty();
    List<String> untested = untested(probe);
    if (!untested.isEmpty()) {
      progress.note(
          "%s is not used: %s. %s=%s would use it"
              .formatted(
                  probe.executable(), String.join(", ", untested), VARIABLE, probe.executable()));
      return Optional.empty();
    }
    Interpreter found = new Interpreter(probe.executable(), probe.versions(), false);
    progress.note("using " + found);
    return Optional.of(found);
  }

  /** The Python to provision from. */
  Path base() throws InterruptedException {
    Set<String> refused = new LinkedHashSet<>();
    for (String name : BASES) {
      Optional<Path> python = find(Path.of(name), environment);
      if (python.isEmpty()) continue;
      try {
        Probe probe = Probe.of(python.get(), environment);
        String version = probe.versions().getOrDefault("python", "");
        if (!Versions.canProvision(version))
          refused.add(probe.executable() + " is Python " + version);
        else if (!probe.makesEnvironments())
          refused.add(probe.executable() + " lacks venv (on Debian: apt-get install python3-venv)");
        else return probe.executable();
      } catch (PythonProblem e) {
        refused.add(e.getMessage());
      }
    }
    throw new PythonProblem(
        "no Python %s to install torch and triton with%s; install one, or let %s name a python that has both"
            .formatted(
                Versions.pythonRange(),
                refused.isEmpty() ? " on the PATH" : " (" + String.join("; ", refused) + ")",
                VARIABLE));
  }

  private static List<String> untested(Probe probe) {
    return Versions.untested(probe.version("torch").orElse(""), probe.version("triton").orElse(""));
  }

  /** A path as the shell understands it: looked up on the PATH if it is a bare name. */
  static Optional<Path> find(Path name, Map<String, String> environment) {
    if (name.getNameCount() > 1 || name.isAbsolute())
      return Optional.of(name.toAbsolutePath()).filter(PythonEnvironment::isProgram);
    for (String folder : environment.getOrDefault("PATH", "").split(":", -1)) {
      Path program = Path.of(folder).resolve(name).toAbsolutePath();
      if (isProgram(program)) return Optional.of(program);
    }
    return Optional.empty();
  }

  private static boolean isProgram(Path path) {
    return Files.isRegularFile(path) && Files.isExecutable(path);
  }

  private static String whyNot(Path name) {
    if (name.getNameCount() == 1 && !name.isAbsolute()) return "not on the PATH";
    if (Files.isDirectory(name)) return "a folder";
    return Files.exists(name) ? "not executable" : "not there";
  }
}
