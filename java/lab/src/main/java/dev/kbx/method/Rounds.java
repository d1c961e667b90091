package dev.kbx.method;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which round of its method a kernel is of, from the id of its ask. */
public final class Rounds {
  private static final Pattern FIRST = Pattern.compile("(?:turn|round|generation)-(\\d{1,6})\\b.*");
  private static final Pattern WORKER = Pattern.compile("worker-\\d+-(\\d{1,6})");

  private Rounds() {}

  /** From 0; also 0 for methods without rounds, and for ids of external programs without one. */
  public static int of(String ask) {
    for (Pattern pattern : new Pattern[] {FIRST, WORKER}) {
      Matcher matcher = pattern.matcher(ask);
      if (matcher.matches()) return Integer.parseInt(matcher.group(1));
    }
    return 0;
  }
}
