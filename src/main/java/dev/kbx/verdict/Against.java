package dev.kbx.verdict;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a speedup is against, in the words of verdicts and runs: {@code eager}, {@code best
 * (compile), warm cache}.
 *
 * @param baseline that was asked for
 * @param fastest which one that is, where the best of several was asked for
 * @param warm whether calls found their arguments in the L2 cache
 */
public record Against(String baseline, @Nullable String fastest, boolean warm) {
  private static final String WARM = ", warm cache";
  private static final Pattern WORDS = Pattern.compile("([^(]*?)( \\((.*)\\))?(" + WARM + ")?");

  /** Reads what {@link #toString} says; whatever else there is is a baseline of that name. */
  public static Against of(String words) {
    Matcher matcher = WORDS.matcher(words);
    return matcher.matches()
        ? new Against(matcher.group(1), matcher.group(3), matcher.group(4) != null)
        : new Against(words, null, false);
  }

  /** The baseline whose times the speedup is of. */
  public String measured() {
    return fastest == null ? baseline : fastest;
  }

  /** The same for all tasks, whichever baseline is the best for one. */
  public Against ofAnyTask() {
    return new Against(baseline, null, warm);
  }

  @Override
  public String toString() {
    return baseline + (fastest == null ? "" : " (" + fastest + ")") + (warm ? WARM : "");
  }
}
