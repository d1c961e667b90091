package dev.kbx.task;

import dev.kbx.syntax.ByteOrderMark;
import dev.kbx.syntax.PythonSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * The text of an original task file, and escaping for a task file of kbx.
 *
 * @param sha256 of the file's bytes, in hexadecimal digits
 */
record OriginalText(String text, String sha256) {
  /**
   * The reference to the original, as {@link Originals}, {@link OriginalLevels} and {@link
   * OwnReference} write it.
   */
  private static final Pattern NAMED =
      Pattern.compile(
          """
          ^(?:ORIGINAL = Original\\(\\n    file="(%1$s)"|FILE = "(%1$s)"\\nORIGINAL = (?:OriginalModel|OwnModel|OwnFunction)\\()\
          """
              .formatted("(?:[^\"\\\\\\n]|\\\\.)*+"),
          Pattern.MULTILINE);

  private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");

  /**
   * Reads a regular file: a device or a pipe that a task file names would never end.
   *
   * @throws java.nio.charset.CharacterCodingException if it is not UTF-8
   */
  static OriginalText read(Path file) throws IOException {
    byte[] bytes = bytes(file);
    String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    return new OriginalText(ByteOrderMark.without(text), DigestUtils.sha256Hex(bytes));
  }

  /** The bytes of a regular file. */
  static byte[] bytes(Path file) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new NotRegular(file.toString());
    }
    return Files.readAllBytes(file);
  }

  /** A folder, a device or a pipe. */
  private static final class NotRegular extends IOException {
    private static final long serialVersionUID = 1;

    NotRegular(String file) {
      super(file + " is not a file");
    }
  }

  /** The original that an imported task file refers to; empty for other task files. */
  static Optional<String> named(String taskFile) {
    Matcher name = NAMED.matcher(taskFile);
    if (!name.find()) return Optional.empty();
    String quoted = name.group(1) != null ? name.group(1) : name.group(2);
    return Optional.of(
        ESCAPE
            .matcher(quoted)
            .replaceAll(escape -> Matcher.quoteReplacement(unescaped(escape.group(1)))));
  }

  private static String unescaped(String letter) {
    return switch (letter) {
      case "n" -> "\n";
      case "t" -> "\t";
      default -> letter;
    };
  }

  /** A {@code Model} with the signatures of a source's, and no code of it. */
  static String model(PythonSource source) {
    return "class Model:\n    def %s: ...\n\n    def %s: ..."
        .formatted(
            source.method("Model", "__init__").orElse("__init__(self)"),
            source.method("Model", "forward").orElse("forward(self)"));
  }

  /** Escapes text for a Python string in triple quotes. */
  static String escaped(String text) {
    StringBuilder safe = new StringBuilder();
    text.codePoints()
        .map(c -> Character.getType(c) == Character.SURROGATE ? '?' : c)
        .filter(c -> c == '\n' || c == '\t' || !Character.isISOControl(c))
        .forEach(c -> {
          if (c == '\\' || c == '"') safe.append('\\');
          safe.appendCodePoint(c);
        });
    return safe.toString();
  }

  /** Text as a Python string. */
  static String quoted(String text) {
    return '"' + escaped(text).replace("\n", "\\n").replace("\t", "\\t") + '"';
  }
}
