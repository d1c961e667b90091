package dev.kbx.syntax;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Source as the bytes that node positions count. Lone surrogates have become {@code ?}. */
final class Utf8 {
  private final byte[] bytes;

  /** First bytes of lines; rules ask for many places, and a line may be a megabyte. */
  private final int[] lines;

  /** Characters before each byte; null where all are ASCII. */
  private final int @Nullable [] characters;

  /** The line asked for last: what lies on one line shares its text. */
  private volatile Line last = new Line(-1, "");

  private record Line(int number, String text) {}

  Utf8(String source) {
    bytes = source.getBytes(StandardCharsets.UTF_8);
    lines = lines(bytes);
    characters = bytes.length == source.length() ? null : characters(bytes);
  }

  private static int[] lines(byte[] bytes) {
    int[] starts = new int[16];
    int count = 1;
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] != '\n') continue;
      if (count == starts.length) starts = Arrays.copyOf(starts, 2 * count);
      starts[count++] = i + 1;
    }
    return Arrays.copyOf(starts, count);
  }

  /** Bytes that go on with a character count for none, the first of four for two. */
  private static int[] characters(byte[] bytes) {
    int[] before = new int[bytes.length + 1];
    for (int i = 0; i < bytes.length; i++) {
      boolean goesOn = (bytes[i] & 0xc0) == 0x80;
      before[i + 1] = before[i] + (goesOn ? 0 : (bytes[i] & 0xf8) == 0xf0 ? 2 : 1);
    }
    return before;
  }

  /** Not a copy. */
  byte[] bytes() {
    return bytes;
  }

  String text(Node node) {
    return slice(node.start(), node.end());
  }

  /** What lies after one node and before another. */
  String between(Node first, Node second) {
    return slice(/* from= */ first.end(), /* to= */ second.start());
  }

  /** In a time that does not grow with the source. */
  Place place(Node node) {
    int start = lines[node.line() - 1];
    int end = node.line() < lines.length ? lines[node.line()] - 1 : bytes.length;
    int column = 1 + length(start, node.start());
    int stop = Math.max(node.start(), Math.min(node.end(), end));
    return new Place(
        node.line(), column, column + length(node.start(), stop), line(node.line(), start, end));
  }

  private int length(int from, int to) {
    return characters == null ? to - from : characters[to] - characters[from];
  }

  private String line(int number, int start, int end) {
    Line known = last;
    if (known.number != number) {
      known = new Line(number, slice(start, end));
      last = known;
    }
    return known.text;
  }

  private String slice(int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }
}
