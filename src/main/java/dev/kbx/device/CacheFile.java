package dev.kbx.device;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Writes cache files that several threads and processes share: a reader finds the old file or the
 * new one, always complete.
 */
public final class CacheFile {
  private CacheFile() {}

  /** Replaces the file atomically; its folder need not exist. */
  public static void replace(Path file, byte[] content) throws IOException {
    Path folder = requireNonNull(file.getParent());
    Files.createDirectories(folder);
    // Not File.createTempFile, whose files other users cannot read: they may share this folder.
    String own = ProcessHandle.current().pid() + "." + Thread.currentThread().threadId();
    Path draft = folder.resolve("." + file.getFileName() + "." + own);
    try {
      Files.write(draft, content);
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  /** A file name for a GPU. Its UUID comes from a driver and may contain anything. */
  public static String named(String uuid) {
    return uuid.replaceAll("[^A-Za-z0-9-]", "_");
  }
}
