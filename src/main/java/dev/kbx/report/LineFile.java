package dev.kbx.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * A file with one JSON document a line, appended to as results come. Safe for several threads;
 * every method throws {@link UnwritableException} where the file cannot be written.
 */
final class LineFile implements AutoCloseable {
  private final Path path;
  private FileChannel channel;

  /** Opens the file for appending; what it held stays. */
  LineFile(Path path) {
    this.path = path;
    this.channel = open();
  }

  Path path() {
    return path;
  }

  /**
   * Adds one line. It is with the operating system when this returns, so it survives a kill of this
   * process; a line that does not fit on the disk is taken back whole.
   */
  synchronized void append(Object document) {
    var bytes = ByteBuffer.wrap(line(document).getBytes(UTF_8));
    try {
      long before = channel.size();
      try {
        while (bytes.hasRemaining()) channel.write(bytes);
      } catch (IOException e) {
        channel.truncate(before);
        throw e;
      }
    } catch (IOException e) {
      throw new UnwritableException(path, e);
    }
  }

  /** Replaces the file with exactly these lines, without the half line that a cut may have left. */
  synchronized void rewrite(List<?> documents) {
    AtomicFile.replace(
        path,
        writer -> {
          for (Object document : documents) writer.write(line(document));
        });
    close();
    channel = open();
  }

  @Override
  public synchronized void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UnwritableException(path, e);
    }
  }

  private static String line(Object document) {
    return Json.mapper().writeValueAsString(document) + "\n";
  }

  private FileChannel open() {
    try {
      return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UnwritableException(path, e);
    }
  }
}
