package dev.kbx.method;

import java.math.BigInteger;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Order of the ids of asks: as texts, but with numbers in them by value. It does not depend on
 * which of several requests was sent first.
 */
final class AskOrder implements Comparator<String> {
  static final AskOrder BY_ID = new AskOrder();

  /** Between a number and what is none. */
  private static final Pattern BORDER = Pattern.compile("(?<=\\d)(?=\\D)|(?<=\\D)(?=\\d)");

  private AskOrder() {}

  @Override
  public int compare(String one, String other) {
    List<String> left = List.of(BORDER.split(one));
    List<String> right = List.of(BORDER.split(other));
    for (int i = 0; i < Math.min(left.size(), right.size()); i++) {
      int order = part(left.get(i), right.get(i));
      if (order != 0) return order;
    }
    int order = Integer.compare(left.size(), right.size());
    return order != 0 ? order : one.compareTo(other);
  }

  private static int part(String one, String other) {
    return isNumber(one) && isNumber(other)
        ? new BigInteger(one).compareTo(new BigInteger(other))
        : one.compareTo(other);
  }

  private static boolean isNumber(String part) {
    return !part.isEmpty() && part.charAt(0) >= '0' && part.charAt(0) <= '9';
  }
}
