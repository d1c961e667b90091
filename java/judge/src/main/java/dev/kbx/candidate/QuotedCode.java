package dev.kbx.candidate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Source as a string in a JSON object or a Python dictionary, as in {@code {"strategy": "…",
 * "code": "…"}}. Both escape alike, and models mix them: line breaks in JSON strings, single
 * quotes, objects that are cut off. So this reads the string after a key and nothing around it.
 */
final class QuotedCode {
  /** A key and the start of its value. */
  private static final Pattern KEY =
      Pattern.compile("[\"']([\\w -]{1,32})[\"']\\s*+:\\s*+(?=[rRbBfFuU]?[\"'])");

  private static final Pattern OF_CODE =
      Pattern.compile(
          ".*(?:code|kernel|solution|answer|program|source|implementation|content|response|output"
              + "|result|predict|text|script|python|triton)");

  private final String text;
  private final StringBuilder value = new StringBuilder();
  private int at;

  private QuotedCode(String text) {
    this.text = text;
  }

  /** The values of keys that may hold source, in order. */
  static List<Wrapped> values(String text) {
    QuotedCode reader = new QuotedCode(text);
    List<Wrapped> values = new ArrayList<>();
    if (reader.isLiteral()) {
      String whole = reader.strings();
      if (reader.skipSpace() == text.length())
        return List.of(new Wrapped(Wrapped.JSON, 0, text.length(), whole));
    }
    Matcher key = KEY.matcher(text);
    for (int from = 0; key.find(from); ) {
      reader.at = key.end();
      String value = reader.strings();
      if (OF_CODE.matcher(key.group(1).toLowerCase(Locale.ROOT)).matches()) {
        values.add(new Wrapped(Wrapped.JSON, key.end(), reader.at, value));
      }
      from = reader.at;
    }
    return values;
  }

  /** Whether the text begins with a string: a reply may be one. */
  private boolean isLiteral() {
    skipSpace();
    return at < text.length() && isQuote(text.charAt(at));
  }

  /** Literals one after the other, which Python joins. */
  private String strings() {
    value.setLength(0);
    do {
      string();
    } while (nextIsString());
    return value.toString();
  }

  private boolean nextIsString() {
    int end = at;
    skipSpace();
    if (at < text.length() && isQuote(text.charAt(at))) return true;
    at = end;
    return false;
  }

  private int skipSpace() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
    return at;
  }

  private void string() {
    boolean raw = "rR".indexOf(text.charAt(at)) >= 0;
    if (!isQuote(text.charAt(at))) at++;
    String quote = text.substring(at, at + 1);
    if (text.startsWith(quote.repeat(3), at)) quote = quote.repeat(3);
    at += quote.length();
    while (at < text.length() && !text.startsWith(quote, at)) {
      char c = text.charAt(at++);
      if (c == '\\' && !raw && at < text.length()) escape(text.charAt(at++));
      else value.append(c);
    }
    at = Math.min(text.length(), at + quote.length());
  }

  private void escape(char c) {
    switch (c) {
      case 'n' -> value.append('\n');
      case 't' -> value.append('\t');
      case 'r' -> value.append('\r');
      case 'b' -> value.append('\b');
      case 'f' -> value.append('\f');
      case '"', '\'', '\\', '/' -> value.append(c);
      case '\n' -> {} // A continued line.
      case 'u' -> codeUnit(c, 4);
      case 'x' -> codeUnit(c, 2);
      default -> value.append('\\').append(c);
    }
  }

  private void codeUnit(char kind, int digits) {
    int end = at + digits;
    if (end <= text.length() && text.substring(at, end).matches("[0-9a-fA-F]+")) {
      value.append((char) Integer.parseInt(text, at, end, 16));
      at = end;
    } else {
      value.append('\\').append(kind);
    }
  }

  private static boolean isQuote(char c) {
    return c == '"' || c == '\'';
  }
}
