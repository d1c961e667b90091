package dev.kbx.server;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** The folder for files of requests. If it is full that is no fault of theirs. */
final class Scratch {
  private static final System.Logger LOG = System.getLogger("dev.kbx.server");

  /** Bytes that must be free for workers: compilers of a few candidates. */
  private static final long LEAST_FREE = 16 << 20;

  private final Path folder;

  Scratch(Path folder) {
    this.folder = folder;
  }

  /** What is missing, in words; empty if there is room. */
  Optional<String> missing() {
    try {
      if (Files.getFileStore(folder).getUsableSpace() >= LEAST_FREE) return Optional.empty();
      return Optional.of("the folder for temporary files is full");
    } catch (IOException e) {
      return Optional.of("the folder for temporary files cannot be read");
    }
  }

  /** Makes a folder for a request. */
  Path makeFolder() {
    try {
      return Files.createTempDirectory(folder, "upload").toRealPath();
    } catch (IOException e) {
      throw full(e);
    }
  }

  /** Makes a folder and those above it. */
  static void makeFolders(Path folder) throws IOException {
    try {
      var _ = Files.createDirectories(folder);
    } catch (FileAlreadyExistsException e) {
      throw e; // A file of the request has its name.
    } catch (IOException e) {
      throw full(e);
    }
  }

  /** Makes a file; what cannot be written is a {@link Refusal}. */
  static OutputStream create(Path file) throws IOException {
    return new Written(open(file));
  }

  private static OutputStream open(Path file) throws IOException {
    try {
      return Files.newOutputStream(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    } catch (FileAlreadyExistsException e) {
      throw e; // The request has it twice.
    } catch (IOException e) {
      throw full(e);
    }
  }

  private static Refusal full(IOException e) {
    LOG.log(System.Logger.Level.WARNING, "the folder for temporary files: " + e.getMessage());
    return Refusal.later(503, "the server has no room for the file; try again later", 5);
  }

  private static final class Written extends FilterOutputStream {
    Written(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int from, int length) {
      try {
        out.write(bytes, from, length);
      } catch (IOException e) {
        throw full(e);
      }
    }

    @Override
    public void close() {
      try {
        super.close();
      } catch (IOException e) {
        throw full(e);
      }
    }
  }
}
