package dev.kbx.python;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Properties of an interpreter, from one start of Python without importing torch (which takes
 * seconds).
 *
 * <p>Versions come from the metadata of installed packages. A package without metadata, such as a
 * build from source, is imported.
 *
 * @param executable as Python reports it: a version manager's shim has been resolved, a virtual
 *     environment's link has not
 * @param versions of {@code python} and of the packages of {@link #SCRIPT} that are installed
 * @param makesEnvironments has the modules {@code venv} and {@code ensurepip}, which Debian keeps
 *     in a package of their own
 */
record Probe(Path executable, Map<String, String> versions, boolean makesEnvironments) {
  private static final long TIMEOUT_SECONDS = 60;

  private static final String SCRIPT =
      """
      import sys
      if sys.version_info < (3, 8):
          print("python=%d.%d.%d" % sys.version_info[:3])
          print("executable=" + sys.executable)
          sys.exit()
      import importlib, importlib.metadata as metadata, importlib.util as util

      def version(module, distributions):
          for name in distributions:
              try:
                  return metadata.version(name)
              except metadata.PackageNotFoundError:
                  pass
          if util.find_spec(module) is None:
              return None
          return importlib.import_module(module).__version__

      found = {
          "python": "%d.%d.%d" % sys.version_info[:3],
          "executable": sys.executable,
          "torch": version("torch", ["torch"]),
          "triton": version("triton", ["triton", "pytorch-triton", "pytorch-triton-rocm", "triton-rocm"]),
          "numpy": version("numpy", ["numpy"]),
          "ray": version("ray", ["ray"]),
          "environments": util.find_spec("venv") and util.find_spec("ensurepip") and "yes",
      }
      for name, value in found.items():
          if value:
              print(name + "=" + value)
      """;

  private static final String FOLDERS =
      """
      import os, sys
      for folder in sys.path:
          if os.path.basename(folder) in ("site-packages", "dist-packages"):
              print(folder)
      """;

  /**
   * Runs {@code python}.
   *
   * @throws PythonProblem it cannot be started, fails, hangs, or is not a Python
   */
  static Probe of(Path python, Map<String, String> environment) throws InterruptedException {
    return parse(python, run(python, SCRIPT, environment));
  }

  /** The folders in which {@code python} finds installed packages. Throws as {@link #of} does. */
  static List<Path> packageFolders(Path python, Map<String, String> environment)
      throws InterruptedException {
    return run(python, FOLDERS, environment).stream().map(Path::of).toList();
  }

  private static List<String> run(Path python, String script, Map<String, String> environment)
      throws InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(python.toString(), "-c", script)
            .directory(Path.of("/").toFile())
            .redirectErrorStream(true);
    replaceEnvironment(builder, environment);
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new PythonProblem(python + " cannot be started: " + e.getMessage());
    }
    try {
      return answer(python, process);
    } catch (IOException e) {
      throw new PythonProblem(python + " cannot be read from: " + e.getMessage());
    } finally {
      process.destroyForcibly();
    }
  }

  /**
   * The output fits a pipe's buffer, so it can be read after the exit, with a timeout on the exit.
   */
  private static List<String> answer(Path python, Process process)
      throws IOException, InterruptedException {
    if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS))
      throw new PythonProblem(python + " did not answer within " + TIMEOUT_SECONDS + " s");
    List<String> lines =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .toList();
    if (process.exitValue() != 0 && lines.stream().anyMatch(Probe::isScript))
      throw new PythonProblem(python + " is no Python");
    if (process.exitValue() != 0)
      throw new PythonProblem(
          python + " failed with exit status " + process.exitValue(),
          lines.subList(Math.max(0, lines.size() - 3), lines.size()));
    return lines;
  }

  /** This line of the script cannot fail in Python; other programs print it in an error message. */
  private static boolean isScript(String line) {
    return line.contains("sys.version_info <");
  }

  private static Probe parse(Path python, List<String> lines) {
    Map<String, String> found = new HashMap<>();
    for (String line : lines) {
      int equals = line.indexOf('=');
      if (equals > 0) found.put(line.substring(0, equals), line.substring(equals + 1));
    }
    String executable = found.remove("executable");
    boolean environments = found.remove("environments") != null;
    found.keySet().retainAll(List.of("python", "torch", "triton", "numpy", "ray"));
    if (executable == null || !found.containsKey("python"))
      throw new PythonProblem(python + " is no Python");
    return new Probe(Path.of(executable), Map.copyOf(found), environments);
  }

  Optional<String> version(String name) {
    return Optional.ofNullable(versions.get(name));
  }

  /** Makes {@code environment} the process's whole environment. */
  static void replaceEnvironment(ProcessBuilder builder, Map<String, String> environment) {
    builder.environment().clear();
    builder.environment().putAll(environment);
  }
}
