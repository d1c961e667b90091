package dev.kbx.task;

import dev.kbx.syntax.SyntaxCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The task files of a checkout of the original KernelBench-X, or of its predecessor TritonBench-T:
 * each has a reference, a line of 146 {@code #}, and tests.
 *
 * @param folder the folder of the categories, or of the files if there are no categories
 * @param files in the order of their paths
 */
public record Originals(Path folder, List<Path> files, OriginalMetadata metadata)
    implements Checkout {
  /** Separates reference and tests. */
  static final Pattern SEPARATOR = Pattern.compile("(?m)^[ \\t]*#{146}[ \\t]*\\r?$");

  /** Folders of the task files in a checkout, in the order in which they are tried. */
  private static final List<String> PLACES =
      List.of("data/kernelbenchx", "kernelbenchx", "data/TritonBench_T_v1", "TritonBench_T_v1", "");

  /** Maximum size of a task file. */
  private static final long MOST_BYTES = 1 << 20;

  public Originals {
    files = List.copyOf(files);
  }

  /**
   * Looks for task files in the root of a checkout, in a folder of categories, or in one category's
   * folder.
   *
   * @throws InvalidSuite if {@code folder} is none of these or cannot be read
   */
  public static Originals find(Path folder) {
    Checkout.refuseUnlessFolder(folder, "KernelBench-X");
    for (String place : PLACES) {
      Path root = folder.resolve(place).toAbsolutePath().normalize();
      if (!Files.isDirectory(root)) continue;
      List<Path> files = taskFiles(root);
      if (!files.isEmpty()) return new Originals(root, files, OriginalMetadata.near(root, files));
    }
    throw new InvalidSuite(
        folder
            + ": holds no task files of KernelBench-X; name its checkout, or the folder that has a"
            + " folder per category");
  }

  @Override
  public Result write(Path file, SyntaxCheck syntax) {
    String category = Checkout.category(file);
    return new OriginalFile(file, category).write(metadata.of(category, file), syntax);
  }

  /** Files of every category that has at least one task; else those of the folder itself. */
  private static List<Path> taskFiles(Path root) {
    List<Path> found = new ArrayList<>();
    for (Path category : Suites.list(root)) {
      if (!Files.isDirectory(category)) continue;
      List<Path> files = sources(category);
      if (files.stream().anyMatch(Originals::divided)) found.addAll(files);
    }
    if (!found.isEmpty()) return found;
    List<Path> own = sources(root);
    return own.stream().anyMatch(Originals::divided) ? own : List.of();
  }

  private static List<Path> sources(Path folder) {
    return Suites.list(folder).stream().filter(file -> file.toString().endsWith(".py")).toList();
  }

  private static boolean divided(Path file) {
    try {
      return Files.size(file) <= MOST_BYTES && SEPARATOR.matcher(Files.readString(file)).find();
    } catch (IOException _) {
      return false; // If other files of the folder are tasks, the import reports this one.
    }
  }
}
