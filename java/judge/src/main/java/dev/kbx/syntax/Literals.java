package dev.kbx.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Values of literals: strings, numbers, booleans, and tuples and lists of them. */
final class Literals {
  /** More deeply nested literals are not constants. */
  private static final int MAX_DEPTH = 16;

  private Literals() {}

  /** A String, Long, Double, Boolean or List of those; null for everything else. */
  static @Nullable Object value(Node node, Utf8 source) {
    return value(node, source, MAX_DEPTH);
  }

  private static @Nullable Object value(Node node, Utf8 source, int depth) {
    if (depth == 0 || node.broken()) return null;
    return switch (node.kind()) {
      case "true" -> true;
      case "false" -> false;
      case "integer" -> integer(source.text(node));
      case "float" -> real(source.text(node));
      case "string", "concatenated_string" -> string(node, source);
      case "unary_operator" -> negative(node, source, depth);
      case "parenthesized_expression" ->
          operands(node).size() == 1 ? value(operands(node).getFirst(), source, depth - 1) : null;
      case "tuple", "list", "expression_list" -> list(node, source, depth);
      default -> null;
    };
  }

  private static List<Node> operands(Node node) {
    return node.children().stream().filter(c -> !c.is("(", ")", "[", "]", ",")).toList();
  }

  private static @Nullable Object list(Node node, Utf8 source, int depth) {
    List<Object> values = new ArrayList<>();
    for (Node item : operands(node)) {
      Object value = value(item, source, depth - 1);
      if (value == null) return null;
      values.add(value);
    }
    return List.copyOf(values);
  }

  private static @Nullable Object negative(Node node, Utf8 source, int depth) {
    Node argument = node.child("argument");
    if (argument == null || !source.text(node).startsWith("-")) return null;
    return switch (value(argument, source, depth - 1)) {
      case Long number -> -number;
      case Double number -> -number;
      case null, default -> null;
    };
  }

  private static @Nullable Long integer(String text) {
    String digits = text.replace("_", "").toLowerCase(Locale.ROOT);
    try {
      if (digits.startsWith("0x")) return Long.parseLong(digits.substring(2), 16);
      if (digits.startsWith("0o")) return Long.parseLong(digits.substring(2), 8);
      if (digits.startsWith("0b")) return Long.parseLong(digits.substring(2), 2);
      return Long.parseLong(digits);
    } catch (NumberFormatException _) {
      return null; // complex, or beyond 64 bits
    }
  }

  private static @Nullable Double real(String text) {
    // Java also reads "1.5f" and "1.5d" as numbers; Python's grammar has neither.
    if (text.endsWith("j") || text.endsWith("J")) return null;
    try {
      return Double.parseDouble(text.replace("_", ""));
    } catch (NumberFormatException _) {
      return null;
    }
  }

  /** The value of a string literal without interpolation; null for bytes and f-strings. */
  static @Nullable String string(Node node, Utf8 source) {
    if (node.is("concatenated_string")) {
      StringBuilder joined = new StringBuilder();
      for (Node part : node.children()) {
        String value = string(part, source);
        if (value == null) return null;
        joined.append(value);
      }
      return joined.toString();
    }
    if (!node.is("string") || node.children().size() < 2) return null;
    Node open = node.children().getFirst();
    Node close = node.children().getLast();
    if (!open.is("string_start") || !close.is("string_end") || close.broken()) return null;
    String prefix = prefix(open, source);
    if (!prefix.isEmpty() && !prefix.equals("u") && !prefix.equals("r")) return null;
    String body = source.between(open, close);
    return prefix.equals("r") ? body : unescaped(body);
  }

  /** The text of a piece of an f-string, unescaped. */
  static String piece(Node string, Node content, Utf8 source) {
    String body = source.text(content).replace("{{", "{").replace("}}", "}");
    return prefix(string.children().getFirst(), source).contains("r") ? body : unescaped(body);
  }

  private static String prefix(Node open, Utf8 source) {
    return source.text(open).replaceAll("['\"]", "").toLowerCase(Locale.ROOT);
  }

  private static String unescaped(String body) {
    StringBuilder out = new StringBuilder(body.length());
    int at = 0;
    while (at < body.length()) {
      char c = body.charAt(at);
      if (c != '\\' || at + 1 == body.length()) {
        out.append(c);
        at++;
      } else {
        at = escape(body, at + 1, out);
      }
    }
    return out.toString();
  }

  /** Appends the character escaped at {@code at} (after the backslash); returns where it ends. */
  private static int escape(String body, int at, StringBuilder out) {
    char c = body.charAt(at);
    switch (c) {
      case '\n' -> {}
      case 'n' -> out.append('\n');
      case 't' -> out.append('\t');
      case 'r' -> out.append('\r');
      case 'a' -> out.append('\u0007');
      case 'b' -> out.append('\b');
      case 'f' -> out.append('\f');
      case 'v' -> out.append('\u000b');
      case '\\', '\'', '"' -> out.append(c);
      case 'x' -> {
        return hex(body, at, 2, out);
      }
      case 'u' -> {
        return hex(body, at, 4, out);
      }
      case 'U' -> {
        return hex(body, at, 8, out);
      }
      case 'N' -> {
        return named(body, at, out);
      }
      case '0', '1', '2', '3', '4', '5', '6', '7' -> {
        int end = at;
        while (end < body.length() && end < at + 3 && "01234567".indexOf(body.charAt(end)) >= 0) {
          end++;
        }
        out.append((char) Integer.parseInt(body.substring(at, end), 8));
        return end;
      }
      default -> out.append('\\').append(c);
    }
    return at + 1;
  }

  private static int hex(String body, int at, int digits, StringBuilder out) {
    int end = at + 1 + digits;
    try {
      if (end <= body.length()) {
        out.appendCodePoint(Integer.parseUnsignedInt(body.substring(at + 1, end), 16));
        return end;
      }
    } catch (IllegalArgumentException _) {
      // A syntax error in Python; kept as written.
    }
    out.append('\\').append(body.charAt(at));
    return at + 1;
  }

  private static int named(String body, int at, StringBuilder out) {
    int close = body.indexOf('}', at);
    try {
      if (close > at + 2 && body.charAt(at + 1) == '{') {
        out.appendCodePoint(Character.codePointOf(body.substring(at + 2, close)));
        return close + 1;
      }
    } catch (IllegalArgumentException _) {
      // A name that this Java does not know; kept as written.
    }
    out.append("\\N");
    return at + 1;
  }
}
