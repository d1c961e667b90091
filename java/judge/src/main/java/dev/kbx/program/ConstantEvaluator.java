package dev.kbx.program;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates Python's arithmetic, string concatenation and string formatting on constants. Null
 * where Python would raise, where the text gets too long, and for everything else.
 */
final class ConstantEvaluator {
  /** Characters of a result; names and paths are shorter. */
  private static final int MAX_LENGTH = 1 << 12;

  private static final Pattern PERCENT = Pattern.compile("%[sd%]");
  private static final Pattern BRACES = Pattern.compile("\\{\\{|\\}\\}|\\{\\d{0,3}\\}|[{}]");

  private ConstantEvaluator() {}

  static @Nullable Object binary(String operator, Object left, Object right) {
    if (left instanceof Long a && right instanceof Long b) return integers(operator, a, b);
    if (!(left instanceof String text)) return null;
    return switch (operator) {
      case "+" -> right instanceof String ? concatenated(List.of(text, right)) : null;
      case "*" ->
          right instanceof Long times && times >= 0 && times * text.length() <= MAX_LENGTH
              ? text.repeat((int) Math.min(times, MAX_LENGTH))
              : null;
      case "%" -> {
        List<?> values = right instanceof List<?> list ? list : List.of(right);
        long wanted = PERCENT.matcher(text.replace("%%", "")).results().count();
        yield wanted == values.size() ? substituted(PERCENT, text, values) : null;
      }
      default -> null;
    };
  }

  private static @Nullable Object integers(String operator, long a, long b) {
    try {
      return switch (operator) {
        case "+" -> Math.addExact(a, b);
        case "-" -> Math.subtractExact(a, b);
        case "*" -> Math.multiplyExact(a, b);
        case "//" -> b == 0 ? null : (Long) Math.floorDiv(a, b);
        case "%" -> b == 0 ? null : (Long) Math.floorMod(a, b);
        case "<<" -> b >= 0 && b < 62 ? (Long) Math.multiplyExact(a, 1L << b) : null;
        case ">>" -> b >= 0 && b < 64 ? (Long) (a >> b) : null;
        case "^" -> a ^ b;
        case "&" -> a & b;
        case "|" -> a | b;
        case "**" -> b >= 0 && b < 64 ? (Long) Math.powExact(a, (int) b) : null;
        default -> null;
      };
    } catch (ArithmeticException _) {
      return null;
    }
  }

  /** {@code str.join} and {@code str.format}; null for every other method. */
  static @Nullable Object method(String receiver, String name, List<Object> arguments) {
    return switch (name) {
      case "join" ->
          arguments.size() == 1
                  && arguments.getFirst() instanceof List<?> parts
                  && parts.stream().allMatch(String.class::isInstance)
              ? joined(receiver, parts)
              : null;
      case "format" -> substituted(BRACES, receiver, arguments);
      default -> null;
    };
  }

  static @Nullable String concatenated(List<?> parts) {
    return joined("", parts);
  }

  private static @Nullable String joined(String separator, List<?> parts) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < parts.size(); i++) {
      String text = at(parts, i);
      if (text == null) return null;
      out.append(i == 0 ? "" : separator).append(text);
      if (out.length() > MAX_LENGTH) return null;
    }
    return out.toString();
  }

  /** {@code str(value)}; null for types whose text is not modelled. */
  private static @Nullable String text(Object value) {
    return switch (value) {
      case String text -> text;
      case Long number -> number.toString();
      case Boolean flag -> flag ? "True" : "False";
      default -> null;
    };
  }

  /** Replaces placeholders by values; null where one is of another kind or has no value. */
  private static @Nullable String substituted(Pattern pieces, String format, List<?> values) {
    Matcher matcher = pieces.matcher(format);
    StringBuilder out = new StringBuilder();
    int next = 0;
    while (matcher.find()) {
      String piece = matcher.group();
      String text =
          switch (piece) {
            case "%%", "{{", "}}" -> piece.substring(1);
            case "{", "}" -> null;
            case "%s", "%d", "{}" -> at(values, next++);
            default -> at(values, Integer.parseInt(piece.substring(1, piece.length() - 1)));
          };
      if (text == null || out.length() > MAX_LENGTH) return null;
      matcher.appendReplacement(out, Matcher.quoteReplacement(text));
    }
    matcher.appendTail(out);
    return out.length() <= MAX_LENGTH ? out.toString() : null;
  }

  private static @Nullable String at(List<?> values, int index) {
    return index < values.size() ? text(values.get(index)) : null;
  }
}
