package dev.kbx.verdict;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/**
 * Reads decimal numbers in a third of the time of {@link Double#parseDouble}, with equal results.
 *
 * <p>A number of up to 18 digits and 22 decimal places is w / 10^k with both exact in 64 bits and
 * in a double. With w = high + low, the quotient of high and its remainder, which a fused
 * multiply-add gives exactly, are the result to twice the precision of a double. That is rounded
 * once, which is right unless it lies next to the middle between two doubles.
 */
final class Decimals {
  private static final double[] POWERS = new double[23];
  private static final int MOST_DIGITS = 18;

  /** Of half the distance between two doubles; the quotient's error is below a thousandth of it. */
  private static final double NEAR_MIDDLE = 1e-9;

  static {
    double power = 1;
    for (int k = 0; k < POWERS.length; k++, power *= 10) POWERS[k] = power;
  }

  private Decimals() {}

  /**
   * The number in ASCII from {@code from} to {@code to}.
   *
   * @throws NumberFormatException if it is none
   */
  static double parse(byte[] text, int from, int to) {
    boolean negative = from < to && text[from] == '-';
    long digits = 0;
    int count = 0;
    int point = -1;
    for (int i = negative ? from + 1 : from; i < to; i++) {
      int digit = text[i] - '0';
      if (digit >= 0 && digit <= 9) {
        digits = 10 * digits + digit;
        if (digits > 0) count++;
      } else if (text[i] == '.' && point < 0) {
        point = i;
      } else {
        return slowly(text, from, to);
      }
      if (count > MOST_DIGITS) return slowly(text, from, to);
    }
    int places = point < 0 ? 0 : to - point - 1;
    if (count == 0 || places >= POWERS.length) return slowly(text, from, to);
    double value = quotient(digits, POWERS[places]);
    if (Double.isNaN(value)) return slowly(text, from, to);
    return negative ? -value : value;
  }

  /** The double nearest to a quotient; not a number where that takes more precision. */
  private static double quotient(long digits, double power) {
    double high = digits;
    double low = digits - (long) high;
    double quotient = high / power;
    double rest = (Math.fma(-quotient, power, high) + low) / power;
    double rounded = quotient + rest;
    double error = Math.abs(rest - (rounded - quotient));
    double half = Math.ulp(rounded) / 2;
    return Math.abs(error - half) <= NEAR_MIDDLE * half ? Double.NaN : rounded;
  }

  private static double slowly(byte[] text, int from, int to) {
    return Double.parseDouble(new String(text, from, to - from, ISO_8859_1));
  }
}
