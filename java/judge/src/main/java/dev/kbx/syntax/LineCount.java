package dev.kbx.syntax;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;

/**
 * Lines of a source.
 *
 * @param code lines that are neither blank nor just comment or docstring
 * @param logical statements; one whose line goes on after a colon counts twice
 * @param comments number of comments
 * @param docstrings lines of unused multi-line strings
 */
public record LineCount(int total, int code, int logical, int comments, int docstrings) {
  /** Tokens from one line break outside brackets to the next. */
  private record Logical(List<Node> tokens, int lastLine) {}

  public static LineCount of(PythonSource source, Node root) {
    List<String> lines = source.text().lines().toList();
    int code = 0;
    int logical = 0;
    int comments = 0;
    int docstrings = 0;
    for (Logical line : logical(root, source)) {
      List<Node> tokens = line.tokens.stream().filter(t -> !t.is("comment")).toList();
      comments += line.tokens.size() - tokens.size();
      if (tokens.isEmpty()) continue;
      logical += statements(tokens);
      int first = tokens.getFirst().line();
      int filled = 0;
      for (int i = first; i <= line.lastLine && i <= lines.size(); i++) {
        if (!lines.get(i - 1).isBlank()) filled++;
      }
      boolean text = line.tokens.size() == 1 && tokens.getFirst().is("string");
      if (!text) code += filled;
      else if (line.lastLine > first) docstrings += filled;
    }
    return new LineCount(lines.size(), code, logical, comments, docstrings);
  }

  private static List<Logical> logical(Node root, PythonSource source) {
    List<Logical> found = new ArrayList<>();
    List<Node> open = new ArrayList<>();
    int depth = 0;
    int last = 0;
    boolean goesOn = false;
    for (Node token : leaves(root, source)) {
      if (token.is("line_continuation")) {
        goesOn = true;
        continue;
      }
      if (depth == 0 && !goesOn && token.line() > last && !open.isEmpty()) {
        found.add(new Logical(List.copyOf(open), last));
        open.clear();
      }
      goesOn = false;
      open.add(token);
      last = token.line() + (token.is("string") ? breaks(source.text(token)) : 0);
      if (token.is("(", "[", "{")) depth++;
      if (token.is(")", "]", "}") && depth > 0) depth--;
    }
    if (!open.isEmpty()) found.add(new Logical(List.copyOf(open), last));
    return found;
  }

  private static int breaks(String text) {
    return (int) text.chars().filter(c -> c == '\n').count();
  }

  /** Tokens, comments and continued lines included; a string is one. */
  private static List<Node> leaves(Node root, PythonSource source) {
    List<Node> found = new ArrayList<>(source.extras());
    Deque<Node> open = new ArrayDeque<>();
    open.push(root);
    while (!open.isEmpty()) {
      Node node = open.pop();
      boolean leaf = node.children().isEmpty() || node.is("string");
      if (leaf && node.end() > node.start()) found.add(node);
      if (!leaf) node.children().reversed().forEach(open::push);
    }
    found.sort(Comparator.comparingInt(Node::start));
    List<Node> outside = new ArrayList<>();
    for (Node node : found) {
      // Inside an f-string there may be comments as well.
      if (outside.isEmpty() || node.start() >= outside.getLast().end()) outside.add(node);
    }
    return outside;
  }

  private static int statements(List<Node> tokens) {
    int count = 0;
    int lastColon = -1;
    int size = 0;
    for (Node token : tokens) {
      if (token.is(";")) {
        count += size == 0 ? 0 : lastColon >= 0 ? 2 : 1;
        lastColon = -1;
        size = 0;
        continue;
      }
      if (token.is(":")) lastColon = size;
      size++;
    }
    if (size == 0) return count;
    return count + (lastColon < 0 || lastColon == size - 1 ? 1 : 2);
  }
}
