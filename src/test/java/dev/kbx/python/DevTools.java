package dev.kbx.python;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What the worker's own tests need besides torch and triton: pytest with xdist and ruff, pinned in
 * {@code worker/requirements-dev.txt}, installed once into a folder beside kbx's environment. They
 * are put on an interpreter's path by {@code PYTHONPATH}, and so leave any interpreter as it was.
 */
public final class DevTools {
  private DevTools() {}

  /** Returns the folder with the packages and, in {@code bin/}, their programs. */
  public static Path install(Interpreter interpreter, Path home, Progress progress)
      throws IOException, PythonProblem, InterruptedException {
    Path requirements = home.toAbsolutePath().resolve("worker/requirements-dev.txt");
    String name = "python-dev-" + Provisioner.hash(Files.readAllBytes(requirements));
    OnceFolder folder = new OnceFolder(home.toAbsolutePath().resolve(".kbx").resolve(name));
    folder.fill(
        path -> {
          Path temporary = Files.createDirectory(path.resolve("tmp"));
          new Pip(interpreter.executable(), temporary, path, Map.copyOf(System.getenv()))
              .install(requirements, List.of("--target", path.toString()), progress);
          OnceFolder.delete(temporary);
          return interpreter.toString();
        },
        progress);
    return folder.path();
  }
}
