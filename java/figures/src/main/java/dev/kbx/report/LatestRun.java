package dev.kbx.report;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.Folders;
import dev.kbx.files.UnwritableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The newest run of a results folder: its files are in {@code runs/<run id>/}, and the same names
 * at the top of the folder link to them. No run replaces another's files.
 */
public final class LatestRun {
  private static final String RUNS = "runs";

  /**
   * Files of most complete runs. If the newest run lacks one, the top must not link to an older
   * one.
   */
  private static final List<String> NAMES =
      List.of("results.jsonl", "metrics.json", "summary.json", "report.html");

  private final Path out;
  private final Path folder;

  /**
   * @param out the results folder
   * @param run id of the run
   */
  public LatestRun(Path out, String run) {
    this.out = out;
    this.folder = folder(out, run);
  }

  private static Path folder(Path out, String run) {
    return out.resolve(RUNS).resolve(run);
  }

  /** The folder of the run's own files. */
  public Path folder() {
    return folder;
  }

  /**
   * Links the names at the top to this run, or copies the files if links are impossible. Called
   * again after files were added.
   *
   * @throws UnwritableException if neither is possible
   */
  public void link() {
    List<String> names = names();
    for (String name : names) {
      Path link = out.resolve(name);
      UnwritableException.naming(
          link, () -> AtomicFile.link(link, Path.of(RUNS, folder.getFileName().toString(), name)));
    }
    for (String name : NAMES) {
      if (!names.contains(name)) delete(out.resolve(name));
    }
    removeLinks(out, target -> !folder.equals(target.getParent()) || !Files.exists(target));
  }

  /** Names of the run's files. */
  private List<String> names() {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.startsWith("."))
          .toList();
    } catch (IOException e) {
      throw new UnwritableException(folder, e);
    }
  }

  private static void delete(Path file) {
    UnwritableException.naming(file, () -> Files.deleteIfExists(file));
  }

  /** Deletes the files of a run that is no longer in the store, and the links to them. */
  public static void delete(Path out, String run) {
    Path folder = folder(out, run);
    // The run may have no folder: it is of another machine or an older version.
    if (!Files.exists(folder)) return;
    try {
      Folders.delete(folder);
    } catch (IOException e) {
      throw new UnwritableException(folder, e);
    }
    removeLinks(out, target -> target.startsWith(folder));
  }

  /** Removes links to certain files of runs. */
  private static void removeLinks(Path out, Predicate<Path> which) {
    try (Stream<Path> files = Files.list(out)) {
      for (Path link : files.filter(Files::isSymbolicLink).toList()) {
        Path target = out.resolve(Files.readSymbolicLink(link));
        if (target.startsWith(out.resolve(RUNS)) && which.test(target)) Files.delete(link);
      }
    } catch (IOException e) {
      throw new UnwritableException(out, e);
    }
  }
}
