package dev.kbx.verdict;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The baseline of a speedup, as written in verdicts and runs: {@code eager}, {@code best (compile),
 * warm cache}.
 *
 * @param baseline the requested baseline
 * @param fastest the fastest one, if the best of several was requested
 * @param warm whether the arguments of calls were in the L2 cache
 */
public record Against(String baseline, @Nullable String fastest, boolean warm) {
  private static final String WARM = ", warm cache";
  private static final Pattern WORDS = Pattern.compile("([^(]*?)( \\((.*)\\))?(" + WARM + ")?");

  /** Parses the text of {@link #toString}; any other text is the name of a baseline. */
  public static Against of(String words) {
    Matcher matcher = WORDS.matcher(words);
    return matcher.matches()
        ? new Against(matcher.group(1), matcher.group(3), matcher.group(4) != null)
        : new Against(words, null, false);
  }

  /** The baseline that was measured. */
  public String measured() {
    return fastest == null ? baseline : fastest;
  }

  /** These baselines without the name of the fastest, which differs from task to task. */
  public Against ofAnyTask() {
    return new Against(baseline, null, warm);
  }

  @Override
  public String toString() {
    return baseline + (fastest == null ? "" : " (" + fastest + ")") + (warm ? WARM : "");
  }
}
