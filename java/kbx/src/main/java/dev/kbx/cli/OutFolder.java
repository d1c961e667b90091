package dev.kbx.cli;

import dev.kbx.store.StoreAddress;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Results folders: that of {@code --out}, and those of earlier runs. */
final class OutFolder {
  /** An empty database and a page; a disk without this much room is full. */
  private static final int LEAST_BYTES = 1 << 18;

  private OutFolder() {}

  /** Location of the runs of a results folder. */
  static StoreAddress store(Path folder) {
    return StoreAddress.of(folder.resolve("kbx.db"));
  }

  /** Says that a folder holds no runs, and what is there instead. */
  static UserError withoutRuns(Path folder) {
    return new UserError(
        "%s: no runs there (%s); name the folder of an earlier --out"
            .formatted(folder, Files.isDirectory(folder) ? "no kbx.db" : inPlaceOf(folder)));
  }

  /** What is at a path in place of a folder. */
  private static String inPlaceOf(Path path) {
    if (Files.exists(path)) return "a file";
    return Files.isSymbolicLink(path) ? "a link to nothing" : "no such folder";
  }

  /** Creates the folder of {@code --out} and checks that files can be written in it. */
  static Path writable(Path folder) {
    return writable("--out " + folder, folder);
  }

  /**
   * Creates a folder and checks that files can be written in it.
   *
   * @param name what messages call it
   */
  static Path writable(String name, Path folder) {
    refuseObstacle(name, folder);
    try {
      Files.createDirectories(folder);
      Path probe = Files.createTempFile(folder, ".kbx", ".probe");
      try {
        Files.write(probe, new byte[LEAST_BYTES]);
      } finally {
        Files.delete(probe);
      }
      return folder;
    } catch (AccessDeniedException e) {
      throw new UserError(name + ": no permission to write there; name another folder");
    } catch (NoSuchFileException e) {
      throw new UserError(name + ": cannot create a folder there; name another");
    } catch (IOException e) {
      throw new UserError("%s: cannot write there: %s".formatted(name, Reason.of(e)), e);
    }
  }

  /**
   * Checks that a file can be written, and that it takes the place of none of another kind: what is
   * mistyped is often a source.
   *
   * @param name what messages call it
   * @param ending of the names of its kind, such as {@code .html}
   */
  static Path file(String name, Path file, String ending) {
    if (Files.isDirectory(file)) {
      throw new UserError("%s: is a folder; name a file, *%s".formatted(name, ending));
    }
    if (Files.isRegularFile(file) && !file.toString().endsWith(ending)) {
      throw new UserError(
          "%s: is there already and no *%s; give another name, or delete it"
              .formatted(name, ending));
    }
    Path parent = file.toAbsolutePath().getParent();
    if (parent != null) writable(name, parent);
    return file;
  }

  /** Throws if a file or a dangling link is where the folder, or one above it, should be. */
  static void refuseObstacle(String name, Path folder) {
    Path nearest = folder;
    while (nearest != null && !Files.exists(nearest, LinkOption.NOFOLLOW_LINKS)) {
      nearest = nearest.getParent();
    }
    if (nearest == null || Files.isDirectory(nearest)) return;
    String what = nearest.equals(folder) ? "is " : nearest + " is ";
    throw new UserError("%s: %s%s; name a folder".formatted(name, what, inPlaceOf(nearest)));
  }
}
