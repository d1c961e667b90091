package dev.kbx.app;

import static java.nio.file.StandardOpenOption.APPEND;

import dev.kbx.error.InputException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lock on a results folder, to which one kbx at a time writes. The operating system releases it
 * when the process ends.
 */
public final class FolderLock implements AutoCloseable {
  private static final String LOCK = ".lock";

  /** The byte that a writer locks. Nobody else does, if only to look: a writer would be refused. */
  private static final long WRITER = 0;

  /** The byte that a writer locks for readers to see. */
  private static final long SHOWN = 1;

  /** Maximum wait for readers that look. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final Path folder;
  private final FileChannel file;

  private FolderLock(Path folder, FileChannel file) {
    this.folder = folder;
    this.file = file;
  }

  public static FolderLock of(Path folder) {
    Path path = folder.resolve(LOCK);
    try {
      FileChannel file =
          FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      @Nullable FileLock lock = file.tryLock(WRITER, 1, false);
      if (lock == null) {
        file.close();
        throw new InputException(
            "%s: another kbx is writing there; wait for it or name another folder"
                .formatted(folder));
      }
      show(file);
      Files.deleteIfExists(judging(folder)); // Of one that was killed.
      return new FolderLock(folder, file);
    } catch (IOException e) {
      throw new InputException("%s: cannot lock it: %s".formatted(folder, Reason.of(e)), e);
    }
  }

  /** Lets readers know that there is a writer. They hold what shows it for a moment each. */
  private static void show(FileChannel file) throws IOException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    try {
      while (file.tryLock(SHOWN, 1, false) == null) {
        // One that was suspended in that moment must not keep a writer: it writes unseen.
        if (System.nanoTime() > end) return;
        Thread.sleep(1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // Whoever locks stops at its next wait.
    }
  }

  /** Notes that the holder of a folder judges a run, for others to read. */
  static void judges(Path folder, String run) {
    try {
      Files.writeString(judging(folder), run + "\n", StandardOpenOption.CREATE, APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The runs that another process is judging into a folder now. */
  public static Set<String> judged(Path folder) {
    // Not beside the lock in one file: whoever closes that here ends a lock of this process.
    Path path = folder.resolve(LOCK);
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
        FileLock free = file.tryLock(SHOWN, 1, true)) {
      return free == null ? Set.copyOf(Files.readAllLines(judging(folder))) : Set.of();
    } catch (IOException | OverlappingFileLockException e) {
      return Set.of(); // Nobody has written here, or this process does.
    }
  }

  private static Path judging(Path folder) {
    return folder.resolve(".judging");
  }

  @Override
  public void close() throws IOException {
    Files.deleteIfExists(judging(folder));
    file.close();
  }
}
