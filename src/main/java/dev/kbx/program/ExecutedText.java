package dev.kbx.program;

import java.util.Set;
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

  /**
   * Whether text can do no harm: it only computes with numbers and may assign the result to a name,
   * or is a piece of a library's version, {@code triton.__version__[0]}. All other text is rejected
   * without being parsed.
   *
   * @param paths of what the text may be
   * @param constants that the text may be
   */
  public static boolean isHarmless(Set<String> paths, Set<Object> constants) {
    return !(paths.isEmpty() && constants.isEmpty())
        && paths.stream().allMatch(path -> VERSION.matcher(path).matches())
        && constants.stream()
            .allMatch(each -> each instanceof String text && ARITHMETIC.matcher(text).matches());
  }
}
