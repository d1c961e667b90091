package dev.kbx.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The folder for all temporary files of this process and its workers, under {@code $TMPDIR} or
 * {@code /tmp}. It is made when it is first needed, and {@link #delete} ends it. A process that was
 * killed leaves its folder; the next one that makes such a folder deletes it: the lock in it is
 * free. So it is with a folder into which somebody still writes while it is deleted.
 */
public final class ScratchFolder {
  private static final String PREFIX = "kbx-";
  private static final String LOCK = "lock";
  private static final String FILES = "files";
  private static final String WORKERS = "workers";
  private static final Set<String> PARTS = Set.of(FILES, WORKERS);

  /** Names of kbx's scratch folders; other folders have names like {@code /tmp/kbx-cluster-UID}. */
  private static final Pattern NAME = Pattern.compile("\\.?" + PREFIX + "\\d{10,20}");

  /** After which a folder that is not locked yet, or no longer, is nobody's: it takes a moment. */
  private static final Duration MOST_UNLOCKED = Duration.ofHours(1);

  /** Maximum time of deleting what others left, and of deleting our own. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final int ROOT = 0;

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
    return ours().resolve(FILES);
  }

  /** For workers, whichever user they become: their {@code TMPDIR}. */
  static Path ofWorkers() {
    return ours().resolve(WORKERS);
  }

  private static synchronized Path ours() {
    ScratchFolder made = ours;
    if (made != null) return made.folder;
    try {
      Path parent = parent();
      int user = user();
      deleteAbandoned(parent, user);
      made = make(parent, user);
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
      deleteTree(made.folder, new Sweep(PATIENCE));
    } catch (IOException | DirectoryIteratorException e) {
      // The next process deletes it.
    }
  }

  /**
   * Deletes the folder and ends the JVM at once: a thread that still starts a worker makes no other
   * one in between.
   */
  public static synchronized void deleteAndHalt(int exit) {
    delete();
    Runtime.getRuntime().halt(exit);
  }

  private static Path parent() {
    return Optional.ofNullable(System.getenv("TMPDIR"))
        .filter(named -> !named.isEmpty())
        .map(Path::of)
        .filter(Files::isDirectory)
        .orElseGet(() -> Path.of(System.getProperty("java.io.tmpdir")))
        .toAbsolutePath();
  }

  /**
   * A user's number: {@code user.name} of one without a name differs from the owner of its files.
   */
  private static int user() throws IOException {
    return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
  }

  private static ScratchFolder make(Path parent, int user) throws IOException {
    // It gets the name by which others find it once it is locked.
    Path draft = Files.createTempDirectory(parent, "." + PREFIX);
    Path folder = parent.resolve(draft.getFileName().toString().substring(1));
    FileChannel lock =
        FileChannel.open(
            draft.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    FileLock _ = lock.lock();
    Files.createDirectory(draft.resolve(FILES));
    Path workers = Files.createDirectory(draft.resolve(WORKERS));
    // Started as root, workers become another user; nobody else can find out the folder's name.
    if (user == ROOT) {
      Path _ = Files.setAttribute(workers, "unix:mode", EVERYBODY);
      Path _ = Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rwx--x--x"));
    }
    Path _ = Files.move(draft, folder);
    return new ScratchFolder(folder, lock);
  }

  /** Deletes what processes of this user have left that were killed. */
  private static void deleteAbandoned(Path parent, int user) {
    try (DirectoryStream<Path> all = Files.newDirectoryStream(parent, ScratchFolder::isNamed)) {
      Sweep sweep = new Sweep(PATIENCE);
      for (Path each : all) deleteUnlessInUse(each, user, sweep);
    } catch (IOException | DirectoryIteratorException e) {
      // Nobody may look into the parent.
    }
  }

  private static boolean isNamed(Path folder) {
    return NAME.matcher(folder.getFileName().toString()).matches();
  }

  private static boolean isDraft(Path folder) {
    return folder.getFileName().toString().startsWith(".");
  }

  private static void deleteUnlessInUse(Path folder, int user, Sweep sweep) {
    try {
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) return;
      if ((int) Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS) != user) return;
      if (isDraft(folder) && isNew(folder)) return;
      Path lock = folder.resolve(LOCK);
      if (Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS))
        deleteUnlessLocked(folder, lock, sweep);
      else if (!isNew(folder) && hasOnlyOurs(folder)) deleteTree(folder, sweep);
    } catch (IOException
        | UncheckedIOException
        | DirectoryIteratorException
        | OverlappingFileLockException e) {
      // It is in use, or another process deletes it.
    }
  }

  private static boolean isNew(Path folder) throws IOException {
    Instant changed = Files.getLastModifiedTime(folder, LinkOption.NOFOLLOW_LINKS).toInstant();
    return changed.isAfter(Instant.now().minus(MOST_UNLOCKED));
  }

  /**
   * Whether it was killed while it was made, or a worker that outlived its process made it anew: it
   * makes the folders above a file, too.
   */
  private static boolean hasOnlyOurs(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.allMatch(each -> PARTS.contains(each.getFileName().toString()));
    }
  }

  private static void deleteUnlessLocked(Path folder, Path lock, Sweep sweep) throws IOException {
    try (FileChannel file = FileChannel.open(lock, StandardOpenOption.WRITE)) {
      @Nullable FileLock free = file.tryLock();
      if (free != null) deleteTree(folder, sweep);
    }
  }

  /** Deletes a folder that can be emptied; what is left of another is tried again by the next. */
  private static void deleteTree(Path folder, Sweep sweep) throws IOException {
    // Without its lock the next process would not know whose the rest is.
    if (!sweep.empties(folder, LOCK)) return;
    Path last = folder;
    if (!isDraft(folder)) {
      // A process killed between the next two leaves none of the usual name without a lock, which
      // nobody may delete.
      last = folder.resolveSibling("." + folder.getFileName());
      Path _ = Files.move(folder, last);
    }
    boolean _ = Files.deleteIfExists(last.resolve(LOCK));
    boolean _ = Files.deleteIfExists(last);
  }

  /**
   * Empties folders into which others may write meanwhile. What cannot be deleted does not keep the
   * rest.
   */
  private static final class Sweep {
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
      // By open folders, not by names: a worker that still ends could put a link in a folder's
      // place,
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
      if (Files.isReadable(folder) && Files.isWritable(folder) && Files.isExecutable(folder))
        return;
      Path _ = Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
    }
  }
}
