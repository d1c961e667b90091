package dev.kbx.server;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** A file system of its own that can be filled and freed; only root can make one. */
final class SmallDisk implements AutoCloseable {
  private final Path folder;

  /**
   * @param folder new
   */
  SmallDisk(Path folder, int mebibytes) throws IOException, InterruptedException {
    this.folder = Files.createDirectories(folder);
    Assumptions.assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "size=" + mebibytes + "m", "kbx-test", folder.toString()),
        "a file system cannot be mounted here");
  }

  Path folder() {
    return folder;
  }

  /**
   * Writes until the file system refuses; a server that deletes files may have room right after.
   */
  void fill() throws IOException {
    try (OutputStream out = Files.newOutputStream(ballast())) {
      byte[] block = new byte[4096];
      while (true) out.write(block);
    } catch (IOException e) {
      if (!String.valueOf(e.getMessage()).contains("No space left")) throw e;
    }
  }

  void free() throws IOException {
    Files.delete(ballast());
  }

  private Path ballast() {
    return folder.resolve("ballast");
  }

  private static boolean run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(List.of(command)).start().waitFor() == 0;
  }

  @Override
  public void close() throws IOException {
    try {
      // Lazily: what a failed test has left open must not keep it.
      if (!run("umount", "-l", folder.toString())) throw new IOException(folder + " stays mounted");
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}
