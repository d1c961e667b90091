package dev.kbx.syntax;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Source in UTF-8; node positions count its bytes. Lone surrogates become {@code ?}. */
final class Utf8 {
  private final byte[] bytes;

  /** Where lines begin. */
  private final int[] starts;

  /** Lines that have been read, cached. */
  private final @Nullable String[] lines;

  /** How many characters lie before each byte; null if each byte is one. */
  private final int @Nullable [] characters;

  Utf8(String source) {
    bytes = source.getBytes(StandardCharsets.UTF_8);
    starts =
        IntStream.concat(
                IntStream.of(0),
                IntStream.rangeClosed(1, bytes.length).filter(at -> bytes[at - 1] == '\n'))
            .toArray();
    lines = new String[starts.length];
    characters = bytes.length == source.length() ? null : characters(bytes);
  }

  private static int[] characters(byte[] bytes) {
    int[] counts = new int[bytes.length + 1];
    for (int i = 0; i < bytes.length; i++) {
      // Bytes that go on with a character count nothing; four bytes make two chars.
      int each = (bytes[i] & 0xc0) == 0x80 ? 0 : (bytes[i] & 0xf8) == 0xf0 ? 2 : 1;
      counts[i + 1] = counts[i] + each;
    }
    return counts;
  }

  /** Not a copy. */
  byte[] bytes() {
    return bytes;
  }

  String text() {
    return slice(0, bytes.length);
  }

  /**
   * The text of a node as written, but names as Python normalises them: {@code ｍatmul} is {@code
   * matmul}.
   */
  String text(Node node) {
    String text = slice(node.start(), node.end());
    return characters != null && node.is("identifier", "dotted_name")
        ? Normalizer.normalize(text, Normalizer.Form.NFKC)
        : text;
  }

  /** What lies after one node and before another. */
  String between(Node first, Node second) {
    return slice(/* from= */ first.end(), /* to= */ second.start());
  }

  Place place(Node node) {
    int found = Arrays.binarySearch(starts, node.start());
    int line = found < 0 ? -found - 2 : found;
    int lineEnd = line + 1 < starts.length ? starts[line + 1] - 1 : bytes.length;
    int end = Math.max(node.start(), Math.min(node.end(), lineEnd));
    int column = 1 + between(starts[line], node.start());
    return new Place(node.line(), column, column + between(node.start(), end), line(line, lineEnd));
  }

  private String line(int line, int end) {
    String text = lines[line];
    if (text == null) lines[line] = text = slice(starts[line], end);
    return text;
  }

  private int between(int from, int to) {
    return characters == null ? to - from : characters[to] - characters[from];
  }

  private String slice(int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }
}
