package dev.kbx.document;

import java.util.Locale;

/** Numbers with their nouns. */
public final class Counted {
  private Counted() {}

  /** A number with its noun: {@code 1 kernel}, {@code 1,000 kernels}. */
  public static String of(long number, String noun) {
    return String.format(Locale.ROOT, "%,d %s", number, noun(number, noun));
  }

  /** The noun alone, singular after 1. */
  public static String noun(long number, String noun) {
    return number == 1 ? noun : noun + "s";
  }
}
