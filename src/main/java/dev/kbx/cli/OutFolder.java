package dev.kbx.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** The folder of {@code --out}. */
final class OutFolder {
  /** An empty database and a page; a disk without this much room is full. */
  private static final int LEAST_BYTES = 1 << 18;

  private OutFolder() {}

  /** Makes the folder and makes sure that files can be written in it. */
  static Path writable(Path folder) {
    try {
      Files.createDirectories(folder);
      Path probe = Files.createTempFile(folder, ".kbx", ".probe");
      try {
        Files.write(probe, new byte[LEAST_BYTES]);
      } finally {
        Files.delete(probe);
      }
      return folder;
    } catch (FileAlreadyExistsException e) {
      throw new UserError("--out %s: is a file; name a folder".formatted(folder));
    } catch (AccessDeniedException e) {
      throw new UserError(
          "--out %s: no permission to write there; name another folder".formatted(folder));
    } catch (NoSuchFileException e) {
      throw new UserError("--out %s: cannot create a folder there; name another".formatted(folder));
    } catch (IOException e) {
      throw new UserError("--out %s: cannot write there: %s".formatted(folder, Reason.of(e)));
    }
  }
}
