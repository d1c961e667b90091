package dev.kbx.syntax;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node of a syntax tree, on the Java heap: it outlives the parser and may be read by any thread.
 * Trees can be as deep as the source is long, so nothing walks them by recursion, and equality is
 * identity.
 *
 * @param kind the grammar's name of it: {@code function_definition}, {@code identifier}, {@code (}
 * @param field its role in the parent, {@code name}, {@code left}, …
 * @param start first byte in the UTF-8 source
 * @param end byte after the last
 * @param line from 1
 * @param broken an error, or a token that the parser inserted to recover
 */
public record Node(
    String kind,
    @Nullable String field,
    int start,
    int end,
    int line,
    boolean broken,
    List<Node> children) {

  @Override
  public boolean equals(@Nullable Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  @Override
  public String toString() {
    return kind + " at line " + line;
  }

  /** The first child with that role. */
  public @Nullable Node child(String role) {
    for (Node child : children) if (role.equals(child.field)) return child;
    return null;
  }

  /** Avoids an array: this is called many times for every node. */
  public boolean is(String only) {
    return only.equals(kind);
  }

  public boolean is(String... kinds) {
    for (String each : kinds) if (each.equals(kind)) return true;
    return false;
  }

  /** This node and all below it, in source order. */
  public List<Node> all() {
    List<Node> found = new ArrayList<>();
    Deque<Node> open = new ArrayDeque<>();
    open.push(this);
    while (!open.isEmpty()) {
      Node node = open.pop();
      found.add(node);
      for (Node child : node.children.reversed()) open.push(child);
    }
    return found;
  }

  /** Tokens that carry meaning, in source order; a string is one token. */
  public List<Node> tokens() {
    List<Node> found = new ArrayList<>();
    Deque<Node> open = new ArrayDeque<>();
    open.push(this);
    while (!open.isEmpty()) {
      Node node = open.pop();
      if (node.children.isEmpty() || node.is("string")) {
        if (node.end > node.start) found.add(node);
        continue;
      }
      for (Node child : node.children.reversed()) open.push(child);
    }
    return found;
  }
}
