package dev.kbx.candidate;

import dev.kbx.syntax.ByteOrderMark;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads lines of UTF-8 one by one, with a limit on the memory for a line. */
public final class Lines implements AutoCloseable {
  /**
   * One line.
   *
   * @param number from 1
   * @param text null if it is too long or not UTF-8
   * @param length in bytes, without the line end
   * @param badByte offset in the file of the first invalid UTF-8 byte; -1 if there is none
   * @param offset offset of its first byte in the file
   * @param sum checksum of its bytes by {@link Prediction#sum}; 0 without text
   */
  public record Line(
      int number, @Nullable String text, long length, long badByte, long offset, int sum) {}

  private final InputStream in;
  private final int limit;
  private final byte[] buffer = new byte[1 << 16];
  private int filled;
  private int at;
  private long offset;
  private int number;

  /** Closes {@code in} when closed itself. */
  public Lines(InputStream in, int limit) {
    this.in = in;
    this.limit = limit;
  }

  /** The next line; null at the end. */
  public @Nullable Line next() throws IOException {
    if (!fill()) return null;
    long start = offset;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    boolean ended = false;
    while (!ended && fill()) {
      int end = at;
      while (end < filled && buffer[end] != '\n') end++;
      ended = end < filled;
      int room = limit - bytes.size();
      bytes.write(buffer, at, Math.min(room, end - at));
      offset += end - at + (ended ? 1 : 0);
      at = ended ? end + 1 : end;
    }
    long length = offset - start - (ended ? 1 : 0);
    number++;
    if (length > limit) return new Line(number, null, length, -1, start, 0);
    return decoded(bytes.toByteArray(), start);
  }

  private boolean fill() throws IOException {
    if (at < filled) return true;
    at = 0;
    filled = Math.max(0, in.read(buffer));
    return filled > 0;
  }

  private Line decoded(byte[] bytes, long start) {
    String text = text(bytes);
    // The replacement character marks an invalid byte; without it the line is valid.
    long bad = text.indexOf('\ufffd') < 0 ? -1 : firstBadByte(bytes);
    if (bad >= 0) return new Line(number, null, bytes.length, start + bad, start, 0);
    return new Line(number, text, bytes.length, -1, start, Prediction.sum(bytes));
  }

  /** The text of a line's bytes. Any line may begin with a mark, where files were joined. */
  static String text(byte[] bytes) {
    return ByteOrderMark.without(new String(bytes, StandardCharsets.UTF_8));
  }

  /** Index of the first invalid UTF-8 byte; -1 if there is none. */
  static int firstBadByte(byte[] bytes) {
    ByteBuffer input = ByteBuffer.wrap(bytes);
    try {
      var _ = StandardCharsets.UTF_8.newDecoder().decode(input);
      return -1;
    } catch (CharacterCodingException _) {
      return input.position();
    }
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
