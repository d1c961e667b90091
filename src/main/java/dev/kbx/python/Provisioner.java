package dev.kbx.python;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * kbx's own environment: a virtual environment with exactly the packages that {@code
 * worker/requirements.txt} pins, in {@code .kbx/python-<hash of that file>}.
 *
 * <p>The marker contains the versions, so that reuse starts no Python, and the real path of the
 * base interpreter: if a system upgrade replaces that, the environment is made again.
 */
final class Provisioner {
  /** Size of the pinned packages: download and disk. */
  private static final long DOWNLOAD_BYTES = 2_600_000_000L;

  private static final long DISK_BYTES = 8_000_000_000L;

  private static final String BASE = "base";

  private final Path requirements;
  private final OnceFolder folder;

  private Provisioner(Path requirements, OnceFolder folder) {
    this.requirements = requirements;
    this.folder = folder;
  }

  /**
   * @throws PythonProblem {@code home} has no requirements
   */
  static Provisioner of(Path home) throws PythonProblem {
    Path requirements = home.resolve("worker/requirements.txt");
    try {
      String name = "python-" + hash(Files.readAllBytes(requirements));
      return new Provisioner(requirements, new OnceFolder(home.resolve(".kbx").resolve(name)));
    } catch (IOException e) {
      throw new PythonProblem(requirements + " cannot be read: is " + home + " kbx's folder?");
    }
  }

  /** The environment, if it has been provisioned and its base is still the same. */
  Optional<Interpreter> existing() {
    return folder.marker().flatMap(this::interpreter);
  }

  /**
   * Makes the environment with {@code base}, or waits for another process that does.
   *
   * @param base a Python with venv and ensurepip
   */
  Interpreter provision(Path base, Map<String, String> environment, Progress progress)
      throws PythonProblem, InterruptedException {
    try {
      if (folder.marker().isPresent() && existing().isEmpty()) folder.clear();
      String marker = folder.fill(path -> fill(path, base, environment, progress), progress);
      return interpreter(marker)
          .orElseThrow(() -> new PythonProblem(folder.path() + " is broken; delete it"));
    } catch (IOException e) {
      throw new PythonProblem(
          "cannot install Python packages in %s: %s; make it writable, or let %s name a python with torch and triton"
              .formatted(folder.path(), describe(e), PythonEnvironment.VARIABLE));
    }
  }

  private String fill(Path path, Path base, Map<String, String> environment, Progress progress)
      throws IOException, PythonProblem, InterruptedException {
    checkSpace(path);
    progress.note(
        "installing torch and triton into %s (once; about %.1f GB to download)"
            .formatted(path, DOWNLOAD_BYTES / 1e9));
    makeEnvironment(base, path, environment);
    Path python = path.resolve("bin/python");
    Path temporary = Files.createDirectory(path.resolve("tmp"));
    new Pip(python, temporary, sitePackages(path), environment)
        .install(requirements, List.of(), progress);
    OnceFolder.delete(temporary);
    Probe probe = Probe.of(python, environment);
    Map<String, String> marker = new TreeMap<>(probe.versions());
    marker.put(BASE, python.toRealPath().toString());
    StringBuilder text = new StringBuilder();
    marker.forEach((key, value) -> text.append(key).append('=').append(value).append('\n'));
    return text.toString();
  }

  private Optional<Interpreter> interpreter(String marker) {
    Map<String, String> versions = new TreeMap<>();
    for (String line : marker.lines().toList()) {
      int equals = line.indexOf('=');
      if (equals > 0) versions.put(line.substring(0, equals), line.substring(equals + 1));
    }
    Path python = folder.path().resolve("bin/python");
    String base = versions.remove(BASE);
    try {
      if (!python.toRealPath().toString().equals(base)) return Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
    return Optional.of(new Interpreter(python, versions, true));
  }

  private static void checkSpace(Path path) throws IOException, PythonProblem {
    long free = Files.getFileStore(path).getUsableSpace();
    if (free < DISK_BYTES)
      throw new PythonProblem(
          "%s has %.1f GB free, and torch and triton need %.0f; free some, or let %s name a python that has both"
              .formatted(path, free / 1e9, DISK_BYTES / 1e9, PythonEnvironment.VARIABLE));
  }

  private static void makeEnvironment(Path base, Path path, Map<String, String> environment)
      throws IOException, PythonProblem, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(base.toString(), "-m", "venv", path.toString())
            .redirectErrorStream(true);
    Probe.replaceEnvironment(builder, environment);
    Process process = builder.start();
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0)
        throw new PythonProblem(
            base + " could not make a virtual environment in " + path,
            output.lines().limit(5).toList());
    } finally {
      process.destroyForcibly();
    }
  }

  private static Path sitePackages(Path path) throws IOException {
    try (var entries = Files.list(path.resolve("lib"))) {
      return entries.findFirst().orElseThrow().resolve("site-packages");
    }
  }

  static String hash(byte[] bytes) {
    return DigestUtils.sha256Hex(bytes).substring(0, 12);
  }

  private static String describe(IOException e) {
    return e.getClass().getSimpleName() + " " + e.getMessage();
  }
}
