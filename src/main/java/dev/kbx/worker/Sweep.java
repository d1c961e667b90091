package dev.kbx.worker;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;

/**
 * Empties folders into which others may write meanwhile. What cannot be deleted does not keep the
 * rest.
 */
final class Sweep {
  /** Folders in folders: each takes a file descriptor and some of the stack. */
  private static final int DEEPEST = 1_000;

  private final long end;

  /**
   * @param most after which it stops: files may be made as fast as they are deleted
   */
  Sweep(Duration most) {
    this.end = System.nanoTime() + most.toNanos();
  }

  /** Deletes all but one file; says whether nothing else is left. */
  boolean empties(Path folder, String but) throws IOException {
    // By open folders, not by names: a worker that still ends could put a link in a folder's place,
    // and lead root elsewhere.
    try (DirectoryStream<Path> opened = Files.newDirectoryStream(folder)) {
      SecureDirectoryStream<Path> all = (SecureDirectoryStream<Path>) opened;
      boolean empty = true;
      for (Path each : all) {
        if (!each.endsWith(but)) empty &= deletes(all, each, 0);
      }
      return empty;
    }
  }

  /** Deletes as much as can be of a file or folder. */
  private boolean deletes(SecureDirectoryStream<Path> in, Path path, int depth) {
    if (System.nanoTime() - end > 0) return false;
    try {
      in.deleteFile(path.getFileName());
      return true;
    } catch (NoSuchFileException e) {
      return true;
    } catch (IOException e) {
      return depth < DEEPEST && deletesFolder(in, path, depth);
    }
  }

  private boolean deletesFolder(SecureDirectoryStream<Path> in, Path path, int depth) {
    Path name = path.getFileName();
    try {
      open(path);
      try (SecureDirectoryStream<Path> all =
          in.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS)) {
        for (Path each : all) {
          if (!deletes(all, each, depth + 1) && System.nanoTime() - end > 0) return false;
        }
      }
      in.deleteDirectory(name);
      return true;
    } catch (NoSuchFileException e) {
      return true;
    } catch (IOException | DirectoryIteratorException e) {
      return false;
    }
  }

  /** A worker may have closed its folder to this user; nothing is closed to root. */
  private static void open(Path folder) throws IOException {
    if (Files.isReadable(folder) && Files.isWritable(folder) && Files.isExecutable(folder)) return;
    Path _ = Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
  }
}
