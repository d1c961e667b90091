package dev.kbx.program;

import java.util.regex.Pattern;

/** Text that is given to {@code exec}, {@code eval} or {@code compile}. */
public final class ExecutedText {
  private static final Pattern ARITHMETIC =
      Pattern.compile("\\s*+(\\w++\\s*+=)?[\\s\\d.+*/%()-]++");

  private ExecutedText() {}

  /**
   * Whether a constant is text that does arithmetic on numbers and at most assigns the result to a
   * name. Such text uses nothing that a rule looks for, so it need not be parsed.
   */
  public static boolean isArithmetic(Object constant) {
    return constant instanceof String text && ARITHMETIC.matcher(text).matches();
  }
}
