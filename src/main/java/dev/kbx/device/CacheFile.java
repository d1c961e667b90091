package dev.kbx.device;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A file in a folder of what was measured or made before, which several threads and processes may
 * write: whoever reads it finds an old one or a new one, and whole.
 */
public final class CacheFile {
  private CacheFile() {}

  /** Writes the file in place of an older one; its folder need not exist. */
  public static void replace(Path file, byte[] content) throws IOException {
    Path folder = requireNonNull(file.getParent());
    Files.createDirectories(folder);
    // Not a temporary file, which others could not read: they may have this folder in common.
    String own = ProcessHandle.current().pid() + "." + Thread.currentThread().threadId();
    Path draft = folder.resolve("." + file.getFileName() + "." + own);
    try {
      Files.write(draft, content);
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  /** A name of files and folders for a GPU: its UUID comes from a driver and may hold anything. */
  public static String named(String uuid) {
    return uuid.replaceAll("[^A-Za-z0-9-]", "_");
  }
}
