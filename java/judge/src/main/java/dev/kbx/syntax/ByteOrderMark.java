package dev.kbx.syntax;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * The mark that some editors and programs put before UTF-8 text. Python skips one at the start of a
 * file and refuses it anywhere else, and so does kbx.
 */
public final class ByteOrderMark {
  /** The mark as a character, U+FEFF. */
  public static final char MARK = '\ufeff';

  private static final Pattern LEADING =
      Pattern.compile(
          "((?:\\A|^[ \\t]*+(?:```|~~~).*\\R)(?:[ \\t]*+\\R)++)\ufeff", Pattern.MULTILINE);

  private ByteOrderMark() {}

  /** The text without one mark at its start. */
  public static String without(String text) {
    return !text.isEmpty() && text.charAt(0) == MARK ? text.substring(1) : text;
  }

  /** A reply without a mark that blank lines put below its start, or below a fence. */
  public static String withoutBelowBlanks(String reply) {
    return reply.indexOf(MARK) < 0 ? reply : LEADING.matcher(reply).replaceAll("$1");
  }

  /**
   * The text of a file in UTF-8 without a mark at its start.
   *
   * @throws java.nio.charset.CharacterCodingException if it is not UTF-8
   */
  public static String read(Path file) throws IOException {
    return without(Files.readString(file));
  }
}
