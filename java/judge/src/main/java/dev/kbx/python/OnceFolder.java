package dev.kbx.python;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.Folders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A folder that is filled once, safely against kills at any time.
 *
 * <p>It is complete if it contains its marker, which is written last and removed first. It is
 * filled in place, as scripts of a virtual environment contain its path. The operating system
 * releases the lock of a killed process, which leaves only a folder without marker; the next
 * process clears and refills it.
 *
 * @param path absolute; the lock file is {@code <path>.lock}
 */
record OnceFolder(Path path) {
  private static final String MARKER = "kbx-installed";

  /** A file lock belongs to the whole JVM; this lock is for its threads. */
  private static final ReentrantLock THREADS = new ReentrantLock();

  /** Fills the folder and returns the text of the marker. */
  @FunctionalInterface
  interface Filler {
    String fill(Path folder) throws IOException, InterruptedException;
  }

  /** The marker's text, empty if the folder is not filled. */
  Optional<String> marker() {
    try {
      Path marker = path.resolve(MARKER);
      return Files.exists(marker) ? Optional.of(Files.readString(marker)) : Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes the marker, so that {@link #fill} fills it again. */
  void clear() throws IOException {
    Files.deleteIfExists(path.resolve(MARKER));
  }

  /**
   * Returns the marker, filling the folder first if no other thread or process has. Waits for
   * another one that is filling it.
   */
  String fill(Filler filler, Progress progress) throws IOException, InterruptedException {
    Files.createDirectories(path.getParent());
    THREADS.lockInterruptibly();
    try (FileChannel channel =
            FileChannel.open(
                path.resolveSibling(path.getFileName() + ".lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        FileLock _ = lock(channel, progress)) {
      Optional<String> marker = marker();
      if (marker.isPresent()) return marker.get();
      Folders.delete(path);
      Files.createDirectories(path);
      String text = filler.fill(path);
      AtomicFile.cache(path.resolve(MARKER), text.getBytes(StandardCharsets.UTF_8));
      return text;
    } finally {
      THREADS.unlock();
    }
  }

  private FileLock lock(FileChannel channel, Progress progress) throws IOException {
    FileLock lock = channel.tryLock();
    if (lock != null) return lock;
    progress.note("another kbx is installing " + path + "; waiting for it");
    return channel.lock();
  }
}
