package dev.kbx.document;

import dev.kbx.document.Figure.Axis;
import dev.kbx.document.Figure.Tick;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** Axes of figures with their ticks. */
public final class Axes {
  private static final int TICKS = 5;

  /** Shares in percent that would be hard to read on an axis up to 100. */
  private static final double SMALL = 50;

  /** A range in which numbers of one digit are too few. */
  private static final double NARROW = 2.5;

  private static final double[] FINE = {1, 1.1, 1.2, 1.4, 1.6, 1.8, 2, 4, 6, 8};

  private static final double[] ROUND = {1, 2, 5};

  private Axes() {}

  /** Shares from 0 to 100 %; where all are small, up to the largest. */
  public static Axis percent(String label, double most) {
    if (most <= SMALL) return upTo(label, Math.max(1, most * 1.05));
    List<Tick> ticks =
        IntStream.rangeClosed(0, 5).mapToObj(i -> new Tick(20.0 * i, 20 * i + "")).toList();
    return new Axis(label, false, 0, 100, ticks, null);
  }

  /** An axis from 0 to at least {@code most}, with a handful of round ticks. */
  public static Axis upTo(String label, double most) {
    double step = most > 0 ? step(most / TICKS) : 1;
    List<Tick> ticks = new ArrayList<>();
    for (int i = 0; i * step <= most * 1.0001; i++) {
      ticks.add(new Tick(i * step, number(i * step)));
    }
    return new Axis(label, false, 0, Math.max(most, step), ticks, null);
  }

  private static double step(double rough) {
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    for (double factor : ROUND) if (rough <= factor * power) return factor * power;
    return 10 * power;
  }

  /** Whole numbers, with room at both ends. */
  public static Axis whole(String label, int first, int last) {
    int step = Math.max(1, (last - first) / 10);
    List<Tick> ticks = new ArrayList<>();
    for (int at = first; at <= last; at += step) ticks.add(new Tick(at, Integer.toString(at)));
    return new Axis(label, false, first - 0.3, last + 0.3, ticks, null);
  }

  /** Ratios on a logarithmic scale; 1 is marked. */
  public static Axis ratio(String label, double low, double high) {
    double[] factors = high / low < NARROW ? FINE : ROUND;
    List<Tick> ticks = new ArrayList<>();
    int from = (int) Math.floor(Math.log10(low));
    int to = (int) Math.ceil(Math.log10(high));
    for (int power = from; power <= to; power++) {
      for (double factor : factors) {
        double at = factor * Math.pow(10, power);
        boolean few = to - from <= 3 || factor == 1;
        if (few && at >= low * 0.999 && at <= high * 1.001) ticks.add(new Tick(at, number(at)));
      }
    }
    return new Axis(label, true, low, high, ticks, 1.0);
  }

  /** A row for each name, the first on top; {@link #row} says where. */
  public static Axis rows(List<String> names) {
    List<Tick> ticks = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      ticks.add(new Tick(row(i, names.size()), names.get(i)));
    }
    return new Axis("", false, -0.6, names.size() - 0.4, ticks, null);
  }

  /** Where the row of a name is. */
  public static double row(int index, int count) {
    return count - 1.0 - index;
  }

  /** {@code 0.5}, {@code 20}, {@code 1500000}: without trailing zeros or exponents. */
  public static String number(double value) {
    String text = String.format(Locale.ROOT, "%.6f", value);
    return text.replaceAll("\\.?0+$", "");
  }
}
