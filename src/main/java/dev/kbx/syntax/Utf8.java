package dev.kbx.syntax;

import java.nio.charset.StandardCharsets;

/** Source as the bytes that node positions count. Lone surrogates have become {@code ?}. */
final class Utf8 {
  private final byte[] bytes;

  Utf8(String source) {
    bytes = source.getBytes(StandardCharsets.UTF_8);
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

  Place place(Node node) {
    int lineStart = node.start();
    while (lineStart > 0 && bytes[lineStart - 1] != '\n') lineStart--;
    int lineEnd = node.start();
    while (lineEnd < bytes.length && bytes[lineEnd] != '\n') lineEnd++;
    int end = Math.max(node.start(), Math.min(node.end(), lineEnd));
    int column = 1 + slice(lineStart, node.start()).length();
    return new Place(
        node.line(), column, column + slice(node.start(), end).length(), slice(lineStart, lineEnd));
  }

  private String slice(int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }
}
