package dev.kbx.report;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The newest run of a results folder: its files lie in {@code runs/<run id>/}, and the same names
 * at the top of the folder lead to them. No run replaces another's files.
 */
public final class LatestRun {
  private static final String RUNS = "runs";

  /** What most runs have at their end. Where one has not, the top has no older one either. */
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

  /** Where the run's own files lie. */
  public Path folder() {
    return folder;
  }

  /**
   * Makes the names at the top lead to this run: as links, or as copies where there can be none.
   * Called again when files have been added.
   *
   * @throws UnwritableException where neither can be made
   */
  public void link() {
    List<String> names = names();
    for (String name : names) {
      Path link = out.resolve(name);
      try {
        replace(link, Path.of(RUNS, folder.getFileName().toString(), name));
      } catch (IOException e) {
        throw new UnwritableException(link, e);
      }
    }
    for (String name : NAMES) {
      if (!names.contains(name)) delete(out.resolve(name));
    }
    removeLinks(out, target -> !folder.equals(target.getParent()) || !Files.exists(target));
  }

  /** Of the files that the run has. */
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
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UnwritableException(file, e);
    }
  }

  private void replace(Path link, Path target) throws IOException {
    Path draft = out.resolve("." + link.getFileName() + ".link");
    Files.deleteIfExists(draft);
    try {
      Files.createSymbolicLink(draft, target);
    } catch (UnsupportedOperationException | FileSystemException e) {
      Files.copy(folder.resolve(link.getFileName()), draft);
    }
    Files.move(draft, link, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Deletes the files of a run that is no longer in the store, and what leads to them. */
  public static void delete(Path out, String run) {
    Path folder = folder(out, run);
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (NoSuchFileException e) {
      return; // A run of another machine, or of a version that had one folder for all.
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
