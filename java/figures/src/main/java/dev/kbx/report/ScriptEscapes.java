package dev.kbx.report;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.SerializableString;
import tools.jackson.core.io.CharacterEscapes;
import tools.jackson.core.io.SerializedString;

/**
 * Makes JSON safe inside a script element: no {@code <}, so neither {@code </script} nor {@code
 * <!--} can end or bend it, and no line separator that JavaScript once took for a line break. These
 * characters occur in JSON only inside strings, where an escape means the same.
 */
final class ScriptEscapes extends CharacterEscapes {
  private static final long serialVersionUID = 1;

  @Override
  public int[] getEscapeCodesForAscii() {
    int[] codes = standardAsciiEscapesForJSON();
    codes['<'] = ESCAPE_STANDARD;
    codes['>'] = ESCAPE_STANDARD;
    codes['&'] = ESCAPE_STANDARD;
    return codes;
  }

  @Override
  public @Nullable SerializableString getEscapeSequence(int c) {
    return c == '\u2028' || c == '\u2029' ? new SerializedString("\\u%04x".formatted(c)) : null;
  }
}
