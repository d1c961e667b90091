package dev.kbx.syntax;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.treesitter.TSLanguage;
import org.treesitter.TreeSitterPython;

/** Parses with tree-sitter. Native memory is held only during {@link #parse}. */
final class TreeSitter {
  private static final TSLanguage PYTHON = new TreeSitterPython();

  private static final int ERROR = 0xffff;
  private static final String[] KINDS = new String[PYTHON.symbolCount()];
  private static final String[] ROLES = new String[PYTHON.fieldCount() + 1];

  static {
    // Asking the bindings for names loads the library that NativeTree calls.
    for (int i = 0; i < KINDS.length; i++) KINDS[i] = PYTHON.symbolName(i);
    for (int i = 1; i < ROLES.length; i++) ROLES[i] = PYTHON.fieldNameForId(i);
  }

  /** Some 100 times the largest kernel seen; a larger tree takes seconds. */
  private static final int MAX_NODES = 200_000;

  private static final Node EMPTY = new Node("module", null, 0, 0, 1, false, List.of());

  /**
   * A tree without comments and line continuations.
   *
   * @param extras those comments and line continuations, in source order
   */
  record Tree(Node root, List<Node> extras) {}

  private TreeSitter() {}

  /**
   * The tree of UTF-8 source; syntax errors become broken nodes. Null if it has more than {@link
   * #MAX_NODES}, or takes seconds.
   */
  static @Nullable Tree parse(byte[] source) {
    // An empty document has a root without a position; the bindings refuse to touch it.
    if (source.length == 0) return new Tree(EMPTY, List.of());
    try (NativeTree tree = NativeTree.of(source)) {
      return tree == null ? null : new Copy(tree, source).tree();
    }
  }

  /** Copies the tree; kinds and roles come as numbers, lines are counted here. */
  private static final class Copy {
    private final NativeTree tree;
    private final boolean broken;
    private final byte[] source;
    private final Deque<Node> open = new ArrayDeque<>();
    private final List<Node> extras = new ArrayList<>();
    private int nodes;
    private int line = 1;
    private int counted;

    Copy(NativeTree tree, byte[] source) {
      this.tree = tree;
      this.broken = tree.hasError();
      this.source = source;
    }

    @Nullable Tree tree() {
      open.push(node());
      while (nodes < MAX_NODES) {
        if (tree.gotoFirstChild()) {
          open.push(node());
          continue;
        }
        while (!tree.gotoNextSibling()) {
          if (!tree.gotoParent()) return finished(open.getLast());
          close();
        }
        close();
        open.push(node());
      }
      return null;
    }

    private Tree finished(Node root) {
      // A file of comments alone has no tokens.
      boolean empty = root.children().isEmpty() && !root.broken();
      return new Tree(empty ? EMPTY : root, extras);
    }

    private void close() {
      Node done = open.pop();
      boolean extra = done.is("comment") || done.is("line_continuation");
      (extra ? extras : open.element().children()).add(done);
    }

    private Node node() {
      nodes++;
      int symbol = tree.symbol();
      boolean error = symbol == ERROR;
      int start = tree.start();
      // Nodes come in source order.
      for (; counted < start; counted++) if (source[counted] == '\n') line++;
      return new Node(
          error ? "ERROR" : KINDS[symbol],
          ROLES[tree.field()],
          start,
          tree.end(),
          line,
          error || (broken && tree.missing()),
          new ArrayList<>(2));
    }
  }
}
