package dev.kbx.program;

import dev.kbx.program.Value.Bytes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Python's functions on constants, as far as text is made with them. Null wherever Python would
 * raise, the result is too long, or it isn't known here.
 */
final class ConstantEvaluator {
  private static final int MAX_LENGTH = 1 << 18;

  private static final Set<String> FUNCTIONS =
      Set.of(
          "builtins.chr",
          "builtins.ord",
          "builtins.str",
          "builtins.int",
          "builtins.len",
          "builtins.bytes",
          "builtins.bytearray",
          "builtins.reversed",
          "builtins.bytes.fromhex",
          "builtins.bytearray.fromhex",
          "builtins.str.join",
          "builtins.bytes.decode",
          "base64.b64decode",
          "base64.standard_b64decode",
          "base64.urlsafe_b64decode",
          "base64.decodebytes",
          "base64.b16decode",
          "binascii.unhexlify",
          "binascii.a2b_hex",
          "binascii.a2b_base64",
          "codecs.decode",
          "codecs.encode",
          "zlib.decompress",
          "gzip.decompress");

  private static final Pattern PERCENT = Pattern.compile("%[sdrc%]");
  private static final Pattern BRACES = Pattern.compile("\\{\\{|\\}\\}|\\{(\\d*)\\}");

  private ConstantEvaluator() {}

  static boolean knows(String path) {
    return FUNCTIONS.contains(path);
  }

  static @Nullable Object call(String path, List<Object> arguments) {
    if (arguments.isEmpty()) return null;
    Object first = arguments.getFirst();
    Object second = arguments.size() > 1 ? arguments.get(1) : null;
    return switch (path) {
      case "builtins.chr" -> first instanceof Long code ? character(code) : null;
      case "builtins.ord" -> first instanceof String text ? code(text) : null;
      case "builtins.str" ->
          second == null && !(first instanceof Bytes) ? text(first) : decoded(first, second);
      case "builtins.int" -> integer(first, second);
      case "builtins.len" -> {
        List<Object> items = items(first);
        yield items == null ? null : (Long) (long) items.size();
      }
      case "builtins.bytes", "builtins.bytearray" -> bytes(first, second);
      case "builtins.reversed" -> {
        List<Object> items = items(first);
        yield items == null ? null : items.reversed();
      }
      case "builtins.bytes.fromhex",
          "builtins.bytearray.fromhex",
          "binascii.unhexlify",
          "binascii.a2b_hex",
          "base64.b16decode" ->
          unhex(first);
      case "builtins.str.join", "builtins.bytes.decode" ->
          method(
              first,
              path.substring(path.lastIndexOf('.') + 1),
              arguments.subList(1, arguments.size()));
      case "zlib.decompress", "gzip.decompress" -> inflated(first, path.startsWith("gzip"));
      case "codecs.decode", "codecs.encode" -> decoded(first, second);
      default -> unbase64(first);
    };
  }

  static @Nullable Object mapped(String path, Object sequence, Budget budget) {
    List<Object> items = items(sequence);
    if (items == null) return null;
    List<Object> results = new ArrayList<>();
    for (Object item : items) {
      Object result = call(path, List.of(item));
      if (result == null || !budget.take(result)) return null;
      results.add(result);
    }
    return results;
  }

  static @Nullable List<Object> items(Object value) {
    return switch (value) {
      case String text ->
          text.codePoints().<Object>mapToObj(Character::toString).collect(Collectors.toList());
      case Bytes(String latin1) ->
          latin1.chars().<Object>mapToObj(each -> (long) each).collect(Collectors.toList());
      case List<?> list -> new ArrayList<>(list);
      default -> null;
    };
  }

  private static @Nullable String character(long code) {
    return code >= 0 && code <= Character.MAX_CODE_POINT ? Character.toString((int) code) : null;
  }

  private static @Nullable Long code(String text) {
    return text.codePointCount(0, text.length()) == 1 ? (Long) (long) text.codePointAt(0) : null;
  }

  private static @Nullable Object integer(Object value, @Nullable Object base) {
    try {
      return switch (value) {
        case Long number -> number;
        case Double number -> (Long) number.longValue();
        case Boolean flag -> (Long) (flag ? 1L : 0L);
        case String text ->
            (Long) Long.parseLong(text.strip(), base instanceof Long radix ? radix.intValue() : 10);
        default -> null;
      };
    } catch (NumberFormatException _) {
      return null;
    }
  }

  private static @Nullable Bytes bytes(Object value, @Nullable Object encoding) {
    if (value instanceof Bytes bytes) return bytes;
    if (value instanceof String text) return encoding == null ? null : encoded(text);
    List<Object> items = items(value);
    if (items == null) return null;
    StringBuilder bytes = new StringBuilder();
    for (Object item : items) {
      if (!(item instanceof Long each) || each < 0 || each > 255) return null;
      bytes.append((char) each.intValue());
    }
    return new Bytes(bytes.toString());
  }

  private static Bytes encoded(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return new Bytes(new String(utf8, StandardCharsets.ISO_8859_1));
  }

  private static byte[] raw(Object value) {
    return switch (value) {
      case Bytes(String latin1) -> latin1.getBytes(StandardCharsets.ISO_8859_1);
      case String text -> text.getBytes(StandardCharsets.UTF_8);
      default -> new byte[0];
    };
  }

  private static Bytes bytes(byte[] raw) {
    return new Bytes(new String(raw, StandardCharsets.ISO_8859_1));
  }

  private static @Nullable Bytes unhex(Object value) {
    try {
      String digits = new String(raw(value), StandardCharsets.ISO_8859_1).replaceAll("\\s", "");
      return bytes(HexFormat.of().parseHex(digits));
    } catch (IllegalArgumentException _) {
      return null;
    }
  }

  private static @Nullable Bytes unbase64(Object value) {
    try {
      String text = new String(raw(value), StandardCharsets.ISO_8859_1);
      String digits = text.replace('-', '+').replace('_', '/').replaceAll("\\s", "");
      return bytes(Base64.getDecoder().decode(digits));
    } catch (IllegalArgumentException _) {
      return null;
    }
  }

  private static @Nullable Bytes inflated(Object value, boolean gzip) {
    try (InputStream in = inflater(raw(value), gzip)) {
      byte[] bytes = in.readNBytes(MAX_LENGTH);
      return bytes.length == MAX_LENGTH ? null : bytes(bytes);
    } catch (IOException _) {
      return null;
    }
  }

  private static InputStream inflater(byte[] bytes, boolean gzip) throws IOException {
    InputStream in = new ByteArrayInputStream(bytes);
    return gzip ? new GZIPInputStream(in) : new InflaterInputStream(in);
  }

  /** {@code codecs.decode}, {@code bytes.decode}, {@code str(bytes, encoding)}. */
  private static @Nullable Object decoded(Object value, @Nullable Object encoding) {
    String name =
        encoding instanceof String text
            ? text.toLowerCase(Locale.ROOT).replaceAll("[-_]", "")
            : "utf8";
    return switch (name) {
      case "utf8", "ascii" -> new String(raw(value), StandardCharsets.UTF_8);
      case "latin1", "iso88591" -> new String(raw(value), StandardCharsets.ISO_8859_1);
      case "rot13" -> value instanceof String text ? rotated(text) : null;
      case "hex", "hexcodec" -> unhex(value);
      case "base64", "base64codec" -> unbase64(value);
      case "zlib", "zip", "zlibcodec" -> inflated(value, false);
      default -> null;
    };
  }

  private static String rotated(String text) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c >= 'a' && c <= 'z') out.append((char) ('a' + (c - 'a' + 13) % 26));
      else if (c >= 'A' && c <= 'Z') out.append((char) ('A' + (c - 'A' + 13) % 26));
      else out.append(c);
    }
    return out.toString();
  }

  /** As {@code str} shows it; null for what it shows differently. */
  private static @Nullable String text(Object value) {
    return switch (value) {
      case String text -> text;
      case Long number -> number.toString();
      case Boolean flag -> flag ? "True" : "False";
      default -> null;
    };
  }

  static @Nullable Object concatenated(List<Object> parts) {
    StringBuilder out = new StringBuilder();
    boolean bytes = !parts.isEmpty() && parts.stream().allMatch(Bytes.class::isInstance);
    for (Object part : parts) {
      String text = part instanceof Bytes(String latin1) && bytes ? latin1 : text(part);
      if (text == null || out.length() + text.length() > MAX_LENGTH) return null;
      out.append(text);
    }
    return bytes ? new Bytes(out.toString()) : out.toString();
  }

  static @Nullable Object unary(String sign, Object value) {
    return switch (value) {
      case Long number when sign.equals("-") -> -number;
      case Long number when sign.equals("~") -> ~number;
      case Long number when sign.equals("+") -> number;
      case Double number when sign.equals("-") -> -number;
      default -> null;
    };
  }

  static @Nullable Object binary(String sign, Object left, Object right) {
    if (left instanceof Long a && right instanceof Long b) return integers(sign, a, b);
    if (left instanceof Number a && right instanceof Number b) {
      return reals(sign, a.doubleValue(), b.doubleValue());
    }
    if (sign.equals("*") && right instanceof Long times) return repeated(left, times);
    if (sign.equals("*") && left instanceof Long times) return repeated(right, times);
    if (sign.equals("%") && left instanceof String format) return percent(format, right);
    if (!sign.equals("+")) return null;
    if (left instanceof List<?> a && right instanceof List<?> b) {
      List<Object> both = new ArrayList<>(a);
      both.addAll(b);
      return both.size() > MAX_LENGTH ? null : both;
    }
    boolean text = left instanceof String && right instanceof String;
    boolean bytes = left instanceof Bytes && right instanceof Bytes;
    return text || bytes ? concatenated(List.of(left, right)) : null;
  }

  private static @Nullable Object integers(String sign, long a, long b) {
    try {
      return switch (sign) {
        case "+" -> Math.addExact(a, b);
        case "-" -> Math.subtractExact(a, b);
        case "*" -> Math.multiplyExact(a, b);
        case "//" -> b == 0 ? null : (Long) Math.floorDiv(a, b);
        case "%" -> b == 0 ? null : (Long) Math.floorMod(a, b);
        case "/" -> b == 0 ? null : (Double) ((double) a / b);
        case "<<" -> b >= 0 && b < 62 ? (Long) Math.multiplyExact(a, 1L << b) : null;
        case ">>" -> b >= 0 && b < 64 ? (Long) (a >> b) : null;
        case "^" -> a ^ b;
        case "&" -> a & b;
        case "|" -> a | b;
        case "**" -> power(a, b);
        default -> null;
      };
    } catch (ArithmeticException _) {
      return null;
    }
  }

  private static @Nullable Long power(long base, long exponent) {
    if (exponent < 0 || exponent > 63) return null;
    long result = 1;
    for (long i = 0; i < exponent; i++) result = Math.multiplyExact(result, base);
    return result;
  }

  private static @Nullable Double reals(String sign, double a, double b) {
    return switch (sign) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "/" -> b == 0 ? null : (Double) (a / b);
      case "**" -> Math.pow(a, b);
      default -> null;
    };
  }

  private static @Nullable Object repeated(Object value, long times) {
    if (times < 0) return null;
    return switch (value) {
      case String text when text.length() * times <= MAX_LENGTH && times <= MAX_LENGTH ->
          text.repeat((int) times);
      case Bytes(String text) when text.length() * times <= MAX_LENGTH && times <= MAX_LENGTH ->
          new Bytes(text.repeat((int) times));
      default -> null;
    };
  }

  private static @Nullable String percent(String format, Object value) {
    List<?> values = value instanceof List<?> list ? list : List.of(value);
    Matcher matcher = PERCENT.matcher(format);
    StringBuilder out = new StringBuilder();
    int at = 0;
    while (matcher.find()) {
      String piece;
      if (matcher.group().equals("%%")) {
        piece = "%";
      } else {
        Object each = at < values.size() ? values.get(at++) : null;
        if (matcher.group().equals("%c") && each instanceof Long code) each = character(code);
        piece = each == null ? null : text(each);
      }
      if (piece == null || out.length() + piece.length() > MAX_LENGTH) return null;
      matcher.appendReplacement(out, Matcher.quoteReplacement(piece));
    }
    matcher.appendTail(out);
    return at == values.size() && out.length() <= MAX_LENGTH ? out.toString() : null;
  }

  static @Nullable Object slice(
      Object value, @Nullable Object start, @Nullable Object stop, @Nullable Object step) {
    List<Object> items = items(value);
    if (items == null) return null;
    int size = items.size();
    // Longer steps leave the sequence as well, and do not overflow.
    long stride = step instanceof Long given ? Math.clamp(given, -size - 1, size + 1) : 1;
    if (stride == 0) return null;
    long low = stride > 0 ? 0 : -1;
    long high = stride > 0 ? size : size - 1;
    long from = bound(start, stride > 0 ? low : high, size, low, high);
    long to = bound(stop, stride > 0 ? high : low, size, low, high);
    List<Object> chosen = new ArrayList<>();
    for (long i = from; stride > 0 ? i < to : i > to; i += stride) chosen.add(items.get((int) i));
    return switch (value) {
      case String _ -> concatenated(chosen);
      case Bytes _ -> bytes(chosen, null);
      default -> chosen;
    };
  }

  private static long bound(@Nullable Object given, long otherwise, int size, long low, long high) {
    if (!(given instanceof Long index)) return otherwise;
    return Math.clamp(index < 0 ? index + size : index, low, high);
  }

  static @Nullable Object method(Object receiver, String name, List<Object> arguments) {
    Object first = arguments.isEmpty() ? null : arguments.getFirst();
    if (receiver instanceof Bytes(String latin1)) {
      return switch (name) {
        case "decode" -> decoded(receiver, first);
        case "hex" -> HexFormat.of().formatHex(raw(receiver));
        case "fromhex" -> first == null ? null : unhex(first);
        default -> {
          Object text = ofText(latin1, name, arguments);
          yield text instanceof String changed ? new Bytes(changed) : null;
        }
      };
    }
    return receiver instanceof String text ? ofText(text, name, arguments) : null;
  }

  private static @Nullable Object ofText(String text, String name, List<Object> arguments) {
    Object first = arguments.isEmpty() ? null : arguments.getFirst();
    Object second = arguments.size() > 1 ? arguments.get(1) : null;
    return switch (name) {
      case "join" -> first == null ? null : joined(text, first);
      case "format" -> formatted(text, arguments);
      case "replace" ->
          first != null && plain(first) instanceof String old && second != null
              ? replaced(text, old, plain(second))
              : null;
      case "lower", "casefold" -> text.toLowerCase(Locale.ROOT);
      case "upper" -> text.toUpperCase(Locale.ROOT);
      case "swapcase" -> swapped(text);
      case "title", "capitalize" ->
          text.isEmpty()
              ? text
              : text.substring(0, 1).toUpperCase(Locale.ROOT)
                  + text.substring(1).toLowerCase(Locale.ROOT);
      case "strip" -> first == null ? text.strip() : null;
      case "lstrip" -> first == null ? text.stripLeading() : null;
      case "rstrip" -> first == null ? text.stripTrailing() : null;
      case "encode" -> encoded(text);
      case "split" -> split(text, first);
      case "removeprefix" ->
          first instanceof String prefix && text.startsWith(prefix)
              ? text.substring(prefix.length())
              : text;
      case "removesuffix" ->
          first instanceof String suffix && text.endsWith(suffix)
              ? text.substring(0, text.length() - suffix.length())
              : text;
      default -> null;
    };
  }

  private static @Nullable Object plain(Object value) {
    return value instanceof Bytes(String latin1) ? latin1 : value;
  }

  private static @Nullable String replaced(String text, String old, @Nullable Object with) {
    if (!(with instanceof String other) || old.isEmpty()) return null;
    if ((long) text.length() * Math.max(1, other.length()) > MAX_LENGTH) return null;
    return text.replace(old, other);
  }

  private static @Nullable String joined(String separator, Object parts) {
    List<Object> items = items(parts);
    if (items == null) return null;
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < items.size(); i++) {
      if (!(plain(items.get(i)) instanceof String text)) return null;
      out.append(i == 0 ? "" : separator).append(text);
      if (out.length() > MAX_LENGTH) return null;
    }
    return out.toString();
  }

  private static @Nullable String formatted(String format, List<Object> values) {
    Matcher matcher = BRACES.matcher(format);
    StringBuilder out = new StringBuilder();
    int next = 0;
    while (matcher.find()) {
      String index = matcher.group(1);
      String piece = matcher.group().substring(1);
      if (index != null) {
        if (index.length() > 3) return null;
        int at = index.isEmpty() ? next++ : Integer.parseInt(index);
        piece = at < values.size() ? text(values.get(at)) : null;
      }
      if (piece == null || out.length() + piece.length() > MAX_LENGTH) return null;
      matcher.appendReplacement(out, Matcher.quoteReplacement(piece));
    }
    matcher.appendTail(out);
    return out.length() <= MAX_LENGTH ? out.toString() : null;
  }

  private static String swapped(String text) {
    return text.chars()
        .mapToObj(c ->
            Character.toString(
                Character.isUpperCase(c) ? Character.toLowerCase(c) : Character.toUpperCase(c)))
        .collect(Collectors.joining());
  }

  private static @Nullable List<Object> split(String text, @Nullable Object separator) {
    if (separator == null) {
      String stripped = text.strip();
      return stripped.isEmpty() ? List.of() : List.of((Object[]) stripped.split("\\s+"));
    }
    if (!(plain(separator) instanceof String by) || by.isEmpty()) return null;
    return List.of((Object[]) text.split(Pattern.quote(by), -1));
  }
}
