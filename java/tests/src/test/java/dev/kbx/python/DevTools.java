package dev.kbx.python;

import dev.kbx.files.Folders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the tests of Python code need besides torch and triton. Each set of packages is pinned in a
 * file and installed once into a folder beside kbx's environment. They are put on an interpreter's
 * path by {@code PYTHONPATH}, and so leave any interpreter as it was.
 */
public final class DevTools {
  private DevTools() {}

  /**
   * pytest with xdist, ruff, mypy and what the client is built and tested with.
   *
   * @return the folder with the packages and, in {@code bin/}, their programs
   */
  public static Path install(Interpreter interpreter, Path home, Progress progress)
      throws IOException, InterruptedException {
    Path requirements = home.toAbsolutePath().resolve("worker/requirements-dev.txt");
    return install(interpreter, home, "python-dev-", requirements, "", List.of(), progress);
  }

  /**
   * Training libraries, without the torch that the interpreter has.
   *
   * @param set {@code training} for TRL and verifiers, or {@code openenv}: what these depend on
   *     cannot be in one folder
   * @return the folder with the packages. It has the name by which dill, which TRL's data sets use,
   *     knows installed modules from a user's own.
   */
  public static Path installTraining(
      Interpreter interpreter, Path home, Progress progress, String set)
      throws IOException, InterruptedException {
    Path requirements =
        home.toAbsolutePath().resolve("clients/python/requirements-%s.txt".formatted(set));
    List<String> options = List.of("--no-deps"); // Complete but for torch, which pip would add.
    return install(
        interpreter,
        home,
        "python-%s-".formatted(set),
        requirements,
        "site-packages",
        options,
        progress);
  }

  /**
   * Schemathesis.
   *
   * @return the folder with the packages
   */
  public static Path installFuzzer(Interpreter interpreter, Path home, Progress progress)
      throws IOException, InterruptedException {
    Path requirements =
        home.toAbsolutePath().resolve("java/tests/src/test/resources/contract/requirements.txt");
    return install(interpreter, home, "python-fuzzer-", requirements, "", List.of(), progress);
  }

  /**
   * The official client of the Model Context Protocol.
   *
   * @return the folder with the packages
   */
  public static Path installMcp(Interpreter interpreter, Path home, Progress progress)
      throws IOException, InterruptedException {
    Path requirements =
        home.toAbsolutePath().resolve("java/tests/src/test/resources/mcp/requirements.txt");
    return install(interpreter, home, "python-mcp-", requirements, "", List.of(), progress);
  }

  private static Path install(
      Interpreter interpreter,
      Path home,
      String prefix,
      Path requirements,
      String folderName,
      List<String> options,
      Progress progress)
      throws IOException, InterruptedException {
    String name = prefix + Provisioner.hash(Files.readAllBytes(requirements));
    OnceFolder folder = new OnceFolder(home.toAbsolutePath().resolve(".kbx").resolve(name));
    folder.fill(
        path -> {
          Path temporary = Files.createDirectory(path.resolve("tmp"));
          Path target = Files.createDirectories(path.resolve(folderName));
          List<String> all =
              Stream.concat(Stream.of("--target", target.toString()), options.stream()).toList();
          new Pip(interpreter.executable(), temporary, target, Map.copyOf(System.getenv()))
              .install(requirements, all, Provisioner.Packages.WORKERS, progress);
          Folders.delete(temporary);
          return interpreter.toString();
        },
        progress);
    return folder.path().resolve(folderName);
  }
}
