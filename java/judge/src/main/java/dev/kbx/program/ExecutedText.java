package dev.kbx.program;

import java.util.regex.Pattern;

/** Text that is given to {@code exec}, {@code eval} or {@code compile}. */
public final class ExecutedText {
  private static final Pattern ARITHMETIC =
      Pattern.compile("\\s*+(\\w++\\s*+=)?[\\s\\d.+*/%()-]++");

  /** A piece of a library's version, which nothing but {@code patched-library} could change. */
  private static final Pattern VERSION =
      Pattern.compile(
          "(torch|triton|numpy)\\.__version__(\\.(r?split|r?partition|strip)\\(\\))?(\\[])+");

  private ExecutedText() {}

  /** Whether a path is a piece of a library's version: {@code triton.__version__[0]}. */
  public static boolean isVersion(String path) {
    return VERSION.matcher(path).matches();
  }

  /**
   * Whether a constant is text that only computes with numbers and may assign the result to a name.
   * Such text can do no harm; all other text is rejected without being parsed.
   */
  public static boolean isArithmetic(Object constant) {
    return constant instanceof String text && ARITHMETIC.matcher(text).matches();
  }
}
