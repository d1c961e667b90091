package dev.kbx.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.Consumer;

/**
 * A file with one JSON document a line, for appending. Safe for several threads. Every method
 * throws {@link UnwritableException} if the file cannot be written.
 */
final class LineFile implements AutoCloseable {
  private final Path path;
  private FileChannel channel;

  /** Opens the file for appending. */
  LineFile(Path path) {
    this.path = path;
    this.channel = open();
  }

  Path path() {
    return path;
  }

  /**
   * Adds one line. The operating system has it when this returns, so it survives a kill of this
   * process. A line that does not fit on the disk is removed again.
   */
  void append(Object document) {
    append(Json.mapper().writeValueAsString(document));
  }

  /** Adds a line that is JSON already. */
  synchronized void append(String document) {
    var bytes = ByteBuffer.wrap((document + "\n").getBytes(UTF_8));
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

  /** Replaces the content, which may end in a truncated line, with exactly these lines. */
  void rewrite(List<?> documents) {
    rewrite((Consumer<String> lines) ->
        documents.forEach(document -> lines.accept(Json.mapper().writeValueAsString(document))));
  }

  /**
   * Replaces the content with lines that are JSON already.
   *
   * @param documents passes each line to its argument
   */
  synchronized void rewrite(Consumer<Consumer<String>> documents) {
    AtomicFile.replace(path, writer -> documents.accept(document -> write(writer, document)));
    close();
    channel = open();
  }

  private static void write(Writer writer, String document) {
    try {
      writer.write(document);
      writer.write('\n');
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public synchronized void close() {
    UnwritableException.naming(path, () -> channel.close());
  }

  private FileChannel open() {
    try {
      return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UnwritableException(path, e);
    }
  }
}
