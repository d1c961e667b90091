package dev.kbx.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElseGet;

import java.io.BufferedWriter;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
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

  /** Writes a file's bytes; may close the stream. */
  public interface Bytes {
    void write(OutputStream out) throws IOException;
  }

  /**
   * Throws {@link UnwritableException}; then the old file is unchanged and no temporary file is
   * left.
   */
  public static void replace(Path file, Body body) {
    replaceBytes(
        file,
        out -> {
          // An encoder made this way replaces lone surrogates, which a candidate's text may hold.
          var writer = new BufferedWriter(new OutputStreamWriter(out, UTF_8));
          body.write(writer);
          writer.flush();
        });
  }

  /** The same with bytes. */
  public static void replaceBytes(Path file, Bytes body) {
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
    } catch (RuntimeException e) {
      // The body failed, not the file.
      throw deleted(temporary, e);
    }
  }

  private static void write(Path file, Bytes body) throws IOException {
    try (var channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      body.write(kept(channel));
      channel.force(true);
    }
  }

  /** A stream that does not close the channel, as the file has to be synced after it. */
  private static OutputStream kept(FileChannel channel) {
    return new FilterOutputStream(Channels.newOutputStream(channel)) {
      @Override
      public void write(byte[] bytes, int from, int count) throws IOException {
        out.write(bytes, from, count);
      }

      @Override
      public void close() throws IOException {
        flush();
      }
    };
  }

  private static UnwritableException failed(Path file, Path temporary, IOException cause) {
    return new UnwritableException(file, deleted(temporary, cause));
  }

  private static <E extends Exception> E deleted(Path temporary, E cause) {
    try {
      Files.deleteIfExists(temporary);
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
    return cause;
  }
}
