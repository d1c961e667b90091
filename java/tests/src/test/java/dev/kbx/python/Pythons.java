package dev.kbx.python;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Real interpreters for tests, as small as can be. */
public final class Pythons {
  private Pythons() {}

  /**
   * A real virtual environment, without pip, in which packages of the given versions are installed:
   * their metadata is, which is all that is asked for.
   *
   * @param packages such as {@code torch 2.13.0}
   */
  static Path environment(Path folder, String... packages) throws Exception {
    return made(folder, "python3", packages);
  }

  private static Path made(Path folder, String python, String... packages) throws Exception {
    Process process =
        new ProcessBuilder(python, "-m", "venv", "--without-pip", folder.toString())
            .inheritIO()
            .start();
    if (process.waitFor() != 0) throw new IOException(python + " -m venv failed");
    Path site = sitePackages(folder);
    for (String entry : packages) {
      int space = entry.indexOf(' ');
      String name = entry.substring(0, space);
      String version = entry.substring(space + 1);
      Path info = site.resolve(name.replace('-', '_') + "-" + version + ".dist-info");
      Files.createDirectory(info);
      Files.writeString(
          info.resolve("METADATA"),
          "Metadata-Version: 2.1\nName: %s\nVersion: %s\n".formatted(name, version));
    }
    return folder.resolve("bin/python3");
  }

  private static Path sitePackages(Path folder) throws IOException {
    try (var entries = Files.list(folder.resolve("lib"))) {
      return entries.findFirst().orElseThrow().resolve("site-packages");
    }
  }

  /**
   * An interpreter with the packages of another one, of which one reports another version.
   *
   * @param name such as {@code triton 9.9.9}
   */
  public static Path reporting(Path folder, Path python, String name) throws Exception {
    Path made = made(folder, python.toString(), name);
    Path site = sitePackages(folder);
    String code = "import sysconfig; print(sysconfig.get_path('purelib'))";
    Process process = new ProcessBuilder(python.toString(), "-c", code).start();
    try (var reader = process.inputReader()) {
      Files.writeString(
          site.resolve("beside.pth"),
          "import site; site.addsitedir('%s')%n".formatted(reader.readLine()));
    }
    return made;
  }

  static Path script(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /**
   * The process's environment without a named interpreter and with {@code PATH} leading to
   * programs.
   */
  static Map<String, String> withPathTo(Path... programs) {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.remove(PythonEnvironment.VARIABLE);
    environment.put(
        "PATH",
        Stream.of(programs)
            .map(program -> requireNonNull(program.getParent()).toString())
            .collect(Collectors.joining(":")));
    return environment;
  }

  /**
   * The machine's own python3 itself, not the shim of a version manager that may be on the PATH.
   */
  public static Path base() {
    String code = "import sys; print(sys.executable)";
    try {
      Process process = new ProcessBuilder("python3", "-c", code).start();
      try (var reader = process.inputReader()) {
        return Path.of(reader.readLine());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A home whose requirements are one small package. */
  static Path home(Path folder, String requirements) throws IOException {
    Files.createDirectories(folder.resolve("worker"));
    Files.writeString(folder.resolve("worker/requirements.txt"), requirements);
    return folder;
  }
}
