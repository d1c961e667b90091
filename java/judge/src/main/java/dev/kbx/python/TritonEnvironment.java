package dev.kbx.python;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * An interpreter with another Triton: a virtual environment that has that Triton alone and finds
 * everything else where the interpreter it is made of does. So two of them differ in nothing but
 * Triton, and one takes a tenth of the room that an environment with its own torch takes.
 *
 * <p>The versions are those pinned in {@code worker/tritons/}, a file each.
 */
public final class TritonEnvironment {
  static final String FOLDER = "worker/tritons";

  private TritonEnvironment() {}

  /**
   * Makes the environment, or takes the one that was made before.
   *
   * @param asked {@code 3.6} or {@code 3.6.0}
   * @param beside has torch; it is returned as it is if it has that Triton
   * @param environment the process's, by which pip is configured
   * @param home kbx's folder; the environment goes to {@code .kbx/triton-<version>-<hash>} in it
   * @throws PythonProblem there is no such version, or it cannot be installed
   */
  public static Interpreter resolve(
      String asked,
      Interpreter beside,
      Map<String, String> environment,
      Path home,
      Progress progress)
      throws InterruptedException {
    Path folder = home.toAbsolutePath();
    String version = version(asked, folder);
    if (version.equals(beside.versions().get("triton"))) return beside;
    Provisioner provisioner = Provisioner.of(folder, Provisioner.Packages.triton(version), beside);
    Interpreter made = provisioner.provision(beside.executable(), environment, progress);
    String got = made.versions().get("triton");
    if (version.equals(got)) return made;
    throw new PythonProblem(
        "%s finds triton %s instead of %s: is PYTHONPATH set?"
            .formatted(made.executable(), got, version));
  }

  /** Refuses a version that there is not. Starts nothing. */
  public static String version(String asked, Path home) {
    List<String> all = versions(home);
    return all.stream()
        .filter(each -> each.equals(asked) || each.startsWith(asked + "."))
        .reduce((_, later) -> later)
        .orElseThrow(() ->
            new PythonProblem(
                "--triton %s: kbx can install %s; let --python name an interpreter with another"
                    .formatted(asked, String.join(", ", all))));
  }

  /** The versions that there are, oldest first. */
  static List<String> versions(Path home) {
    Path folder = home.resolve(FOLDER);
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString().replaceFirst("[.]txt$", ""))
          .sorted(Comparator.comparing(TritonEnvironment::sortable))
          .toList();
    } catch (IOException e) {
      throw new PythonProblem(folder + " cannot be read: is " + home + " kbx's folder?");
    }
  }

  private static String sortable(String version) {
    return Stream.of(version.split("[.]")).map("%6s"::formatted).collect(joining("."));
  }
}
