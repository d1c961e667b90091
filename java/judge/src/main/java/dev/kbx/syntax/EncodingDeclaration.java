package dev.kbx.syntax;

import dev.kbx.syntax.PythonSource.SyntaxError;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The encoding that one of the first two lines of a source declares. Sources are read as UTF-8. In
 * an encoding in which ASCII means something else, such as UTF-7, Python would run other code than
 * was read.
 */
final class EncodingDeclaration {
  private static final Pattern DECLARATION =
      Pattern.compile("[ \\t\\f]*#.*?coding[:=][ \\t]*([-_.a-zA-Z0-9]+)");
  private static final Pattern NO_CODE = Pattern.compile("[ \\t\\f]*(#.*)?");

  private static final String ASCII = ascii();

  private EncodingDeclaration() {}

  /** The error of a declaration that the text cannot have. */
  static Optional<SyntaxError> error(String text) {
    int number = 1;
    for (String line : text.lines().limit(2).toList()) {
      Matcher declaration = DECLARATION.matcher(line);
      if (declaration.lookingAt()) {
        String name = declaration.group(1);
        String message = "the source declares the encoding " + name + ", but is read as UTF-8";
        int column = 1 + declaration.start(1);
        return holdsAscii(name)
            ? Optional.empty()
            : Optional.of(new SyntaxError(number, column, line.strip(), message, true));
      }
      if (!NO_CODE.matcher(line).matches()) return Optional.empty();
      number++;
    }
    return Optional.empty();
  }

  private static boolean holdsAscii(String name) {
    String plain = name.toLowerCase(Locale.ROOT).replace('_', '-');
    if (plain.equals("utf-8") || plain.startsWith("utf-8-") || plain.startsWith("latin-1")) {
      return true;
    }
    try {
      byte[] bytes = ASCII.getBytes(StandardCharsets.US_ASCII);
      return new String(bytes, Charset.forName(plain)).equals(ASCII);
    } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
      return false;
    }
  }

  /** The characters of ASCII that source is written in. */
  private static String ascii() {
    StringBuilder all = new StringBuilder("\t\n");
    for (char c = ' '; c < 127; c++) all.append(c);
    return all.toString();
  }
}
