package dev.kbx.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElseGet;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import tools.jackson.core.exc.JacksonIOException;

/**
 * Replaces a file atomically: readers see the old or the new content, also after a power failure.
 */
public final class AtomicFile {
  private AtomicFile() {}

  /** Writes a file's text; need not close or flush. */
  public interface Body {
    void write(Writer writer) throws IOException;
  }

  /**
   * Throws {@link UnwritableException}; then the old file is unchanged and no temporary file is
   * left.
   */
  public static void replace(Path file, Body body) {
    Path temporary =
        file.resolveSibling("." + file.getFileName() + "." + ProcessHandle.current().pid());
    try {
      write(temporary, body);
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw failed(file, temporary, e);
    } catch (UncheckedIOException e) {
      throw failed(file, temporary, requireNonNull(e.getCause()));
    } catch (JacksonIOException e) {
      throw failed(file, temporary, requireNonNullElseGet(e.getCause(), () -> new IOException(e)));
    }
  }

  private static void write(Path file, Body body) throws IOException {
    try (var channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      // An encoder made this way replaces lone surrogates, which a candidate's text may hold.
      var writer =
          new BufferedWriter(new OutputStreamWriter(Channels.newOutputStream(channel), UTF_8));
      body.write(writer);
      writer.flush();
      channel.force(true);
    }
  }

  private static UnwritableException failed(Path file, Path temporary, IOException cause) {
    try {
      Files.deleteIfExists(temporary);
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
    return new UnwritableException(file, cause);
  }
}
