package dev.kbx.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The folder for all temporary files of this process and its workers, under {@code $TMPDIR} or
 * {@code /tmp}. It is made when it is first needed, and {@link #delete} ends it. A process that was
 * killed leaves its folder; the next one that makes such a folder deletes it: the lock in it is
 * free.
 */
public final class ScratchFolder {
  private static final String PREFIX = "kbx-";
  private static final String LOCK = "lock";

  /** As {@code /tmp} has it: all may make files there, and delete their own. */
  private static final int EVERYBODY = 0x3ff;

  private static @Nullable ScratchFolder ours;

  private final Path folder;
  private final FileChannel lock;

  private ScratchFolder(Path folder, FileChannel lock) {
    this.folder = folder;
    this.lock = lock;
  }

  /** For files of this process. Throws {@link UncheckedIOException} if none can be made. */
  public static Path files() {
    return ours().resolve("files");
  }

  /** For workers, whichever user they become: their {@code TMPDIR}. */
  static Path ofWorkers() {
    return ours().resolve("workers");
  }

  private static synchronized Path ours() {
    ScratchFolder made = ours;
    if (made != null) return made.folder;
    try {
      Path parent = parent();
      deleteAbandoned(parent);
      made = make(parent);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a temporary folder: " + e.getMessage(), e);
    }
    ours = made;
    return made.folder;
  }

  /** Deletes the folder with all that is in it, if there is one. */
  public static synchronized void delete() {
    ScratchFolder made = ours;
    if (made == null) return;
    ours = null;
    try (FileChannel _ = made.lock) {
      deleteTree(made.folder);
    } catch (IOException e) {
      // The next process deletes it.
    }
  }

  private static Path parent() {
    return Optional.ofNullable(System.getenv("TMPDIR"))
        .filter(named -> !named.isEmpty())
        .map(Path::of)
        .filter(Files::isDirectory)
        .orElseGet(() -> Path.of(System.getProperty("java.io.tmpdir")))
        .toAbsolutePath();
  }

  private static ScratchFolder make(Path parent) throws IOException {
    // It gets the name by which others find it once it is locked.
    Path draft = Files.createTempDirectory(parent, "." + PREFIX);
    Path folder = parent.resolve(draft.getFileName().toString().substring(1));
    FileChannel lock =
        FileChannel.open(
            draft.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    FileLock _ = lock.lock();
    Files.createDirectory(draft.resolve("files"));
    Path workers = Files.createDirectory(draft.resolve("workers"));
    // Started as root, workers become another user; nobody else can find out the folder's name.
    if (Files.getOwner(draft).getName().equals("root")) {
      Path _ = Files.setAttribute(workers, "unix:mode", EVERYBODY);
      Path _ = Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rwx--x--x"));
    }
    Path _ = Files.move(draft, folder);
    return new ScratchFolder(folder, lock);
  }

  /** Deletes what processes of this user have left that were killed. */
  private static void deleteAbandoned(Path parent) throws IOException {
    String user = System.getProperty("user.name");
    try (DirectoryStream<Path> all = Files.newDirectoryStream(parent, PREFIX + "*")) {
      for (Path each : all) {
        if (!Files.isRegularFile(each.resolve(LOCK), LinkOption.NOFOLLOW_LINKS)) continue;
        if (!Files.getOwner(each, LinkOption.NOFOLLOW_LINKS).getName().equals(user)) continue;
        deleteUnlessInUse(each);
      }
    }
  }

  private static void deleteUnlessInUse(Path folder) {
    try (FileChannel file = FileChannel.open(folder.resolve(LOCK), StandardOpenOption.WRITE)) {
      @Nullable FileLock free = file.tryLock();
      if (free != null) deleteTree(folder);
    } catch (IOException | OverlappingFileLockException e) {
      // It is in use, or another process deletes it.
    }
  }

  private static void deleteTree(Path folder) throws IOException {
    Path _ =
        Files.walkFileTree(
            folder,
            new SimpleFileVisitor<>() {
              @Override
              public FileVisitResult visitFile(Path file, BasicFileAttributes of)
                  throws IOException {
                boolean _ = Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
              }

              @Override
              public FileVisitResult visitFileFailed(Path file, IOException e) {
                return FileVisitResult.CONTINUE;
              }

              @Override
              public FileVisitResult postVisitDirectory(Path each, @Nullable IOException e)
                  throws IOException {
                boolean _ = Files.deleteIfExists(each);
                return FileVisitResult.CONTINUE;
              }
            });
  }
}
