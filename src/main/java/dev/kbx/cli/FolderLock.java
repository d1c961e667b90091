package dev.kbx.cli;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Lock on a results folder, to which one kbx at a time writes. The operating system releases it
 * when the process ends.
 */
final class FolderLock implements AutoCloseable {
  private final FileChannel file;

  private FolderLock(FileChannel file) {
    this.file = file;
  }

  static FolderLock of(Path folder) {
    Path path = folder.resolve(".lock");
    try {
      FileChannel file =
          FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      @Nullable FileLock lock = file.tryLock();
      if (lock == null) {
        file.close();
        throw new UserError(
            "%s: another kbx is writing there; wait for it or name another folder"
                .formatted(folder));
      }
      return new FolderLock(file);
    } catch (IOException e) {
      throw new UserError("%s: cannot lock it: %s".formatted(folder, Reason.of(e)));
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
