package dev.kbx.python;

import dev.kbx.files.Folders;
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
 * kbx's own environment: a virtual environment with exactly the packages that a file such as {@code
 * worker/requirements.txt} pins, in {@code .kbx/python-<hash of that file>}. One that is made
 * beside an interpreter has that one's packages as well, behind its own, and the interpreter is
 * part of the hash.
 *
 * <p>The marker contains the versions, so that reuse starts no Python, and the real path of the
 * base interpreter: if a system upgrade replaces that, the environment is made again.
 */
final class Provisioner {
  private static final String BASE = "base";

  private final Packages packages;
  private final Path requirements;
  private final OnceFolder folder;
  private final Optional<Interpreter> beside;

  private Provisioner(
      Packages packages, Path requirements, OnceFolder folder, Optional<Interpreter> beside) {
    this.packages = packages;
    this.requirements = requirements;
    this.folder = folder;
    this.beside = beside;
  }

  /**
   * @throws PythonProblem {@code home} has no requirements
   */
  static Provisioner of(Path home) {
    return of(home, Packages.WORKERS);
  }

  /** The provisioner of other packages. */
  static Provisioner of(Path home, Packages packages) {
    return of(home, packages, Optional.empty());
  }

  /**
   * The provisioner of packages without what they need.
   *
   * @param beside has that, and the environment is made with it
   */
  static Provisioner of(Path home, Packages packages, Interpreter beside) {
    return of(home, packages, Optional.of(beside));
  }

  private static Provisioner of(Path home, Packages packages, Optional<Interpreter> beside) {
    Path requirements = home.resolve(packages.requirements());
    try {
      String text = Files.readString(requirements) + beside.map(Interpreter::toString).orElse("");
      String name = packages.folder() + hash(text.getBytes(StandardCharsets.UTF_8));
      OnceFolder folder = new OnceFolder(home.resolve(".kbx").resolve(name));
      return new Provisioner(packages, requirements, folder, beside);
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
      throws InterruptedException {
    try {
      if (folder.marker().isPresent() && existing().isEmpty()) folder.clear();
      String marker = folder.fill(path -> fill(path, base, environment, progress), progress);
      return interpreter(marker)
          .orElseThrow(() -> new PythonProblem(folder.path() + " is broken; delete it"));
    } catch (IOException e) {
      throw new PythonProblem(
          "cannot install Python packages in %s: %s; make it writable, or let %s name a python with %s"
              .formatted(folder.path(), describe(e), packages.variable(), packages.what()));
    }
  }

  private String fill(Path path, Path base, Map<String, String> environment, Progress progress)
      throws IOException, InterruptedException {
    checkSpace(path);
    progress.note(
        "installing %s into %s (once; about %.1f GB to download)"
            .formatted(packages.what(), path, packages.downloadBytes() / 1e9));
    makeEnvironment(base, path, environment);
    Path python = path.resolve("bin/python");
    Path temporary = Files.createDirectory(path.resolve("tmp"));
    new Pip(python, temporary, sitePackages(path), environment)
        .install(
            requirements,
            beside.isPresent() ? List.of("--no-deps") : List.of(),
            packages,
            progress);
    Folders.delete(temporary);
    if (beside.isPresent()) sees(sitePackages(path), beside.get(), environment);
    Probe probe = Probe.of(python, environment);
    Map<String, String> marker = new TreeMap<>(probe.versions());
    marker.put(BASE, python.toRealPath().toString());
    StringBuilder text = new StringBuilder();
    marker.forEach((key, value) -> text.append(key).append('=').append(value).append('\n'));
    return text.toString();
  }

  /**
   * Lets the environment find the packages of another interpreter, where it has none of that name.
   */
  private static void sees(Path site, Interpreter other, Map<String, String> environment)
      throws IOException, InterruptedException {
    StringBuilder lines = new StringBuilder();
    for (Path folder : Probe.packageFolders(other.executable(), environment)) {
      String quoted = folder.toString().replace("\\", "\\\\").replace("'", "\\'");
      lines.append("import site; site.addsitedir('%s')%n".formatted(quoted));
    }
    Files.writeString(site.resolve("kbx-beside.pth"), lines);
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

  private void checkSpace(Path path) throws IOException {
    long free = Files.getFileStore(path).getUsableSpace();
    if (free < packages.diskBytes())
      throw new PythonProblem(
          "%s has %.1f GB free, and %s takes %.1f; free some, or let %s name a python that has it"
              .formatted(
                  path,
                  free / 1e9,
                  packages.what(),
                  packages.diskBytes() / 1e9,
                  packages.variable()));
  }

  private static void makeEnvironment(Path base, Path path, Map<String, String> environment)
      throws IOException, InterruptedException {
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

  /**
   * A set of pinned packages that kbx can install.
   *
   * @param requirements file in kbx's folder that pins them
   * @param folder begins the name of the environment's folder
   * @param what they are, for messages
   * @param downloadBytes size of the download
   * @param diskBytes size on disk
   * @param variable names an interpreter to use instead
   */
  record Packages(
      String requirements,
      String folder,
      String what,
      long downloadBytes,
      long diskBytes,
      String variable) {
    /** What judges. */
    static final Packages WORKERS =
        new Packages(
            "worker/requirements.txt",
            "python-",
            "torch and triton",
            2_600_000_000L,
            8_000_000_000L,
            PythonEnvironment.VARIABLE);

    /** One Triton, and nothing else. */
    static Packages triton(String version) {
      return new Packages(
          TritonEnvironment.FOLDER + "/" + version + ".txt",
          "triton-" + version + "-",
          "triton " + version,
          250_000_000L,
          1_500_000_000L,
          "--python");
    }

    /** What speaks to a Ray cluster. */
    static final Packages RAY =
        new Packages(
            "bridge/requirements.txt",
            "ray-",
            "ray",
            100_000_000L,
            500_000_000L,
            RayEnvironment.VARIABLE);
  }
}
