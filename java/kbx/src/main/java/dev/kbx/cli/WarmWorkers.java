package dev.kbx.cli;

import dev.kbx.app.WorkerSource;
import dev.kbx.device.Workers;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the processes of an interpreter from one command to the next, as long as the interpreter
 * has the same packages.
 */
final class WarmWorkers implements WorkerSource, AutoCloseable {
  private List<String> of = List.of();
  private @Nullable Workers kept;

  @Override
  public Workers take(Path python, Path home, Supplier<Workers> start) {
    List<String> wanted = new ArrayList<>(List.of(python.toString(), home.toString()));
    wanted.addAll(packages(python));
    Workers known = kept;
    if (known != null && wanted.equals(of)) return known;
    close();
    Workers started = start.get();
    of = wanted;
    kept = started;
    return started;
  }

  /** Most of the memory is that of oracles, of which a run of many candidates has several. */
  @Override
  public void giveBack(Workers workers) {
    workers.keepOneOracle();
  }

  /** The folders of an interpreter's packages, and when a package was last added or removed. */
  private static List<String> packages(Path python) {
    List<String> found = new ArrayList<>();
    Path library = python.toAbsolutePath().resolveSibling("../lib").normalize();
    try (DirectoryStream<Path> versions = Files.newDirectoryStream(library, "python3*")) {
      for (Path version : versions) {
        for (String name : List.of("site-packages", "dist-packages")) {
          Path folder = version.resolve(name);
          if (Files.exists(folder)) found.add(folder + " " + Files.getLastModifiedTime(folder));
        }
      }
    } catch (IOException e) {
      found.add("unknown at " + System.nanoTime()); // Never the same.
    }
    return found;
  }

  @Override
  public void close() {
    Workers known = kept;
    if (known != null) known.close();
    kept = null;
  }
}
