package dev.kbx.report;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.BudgetCurve.Point;
import dev.kbx.verdict.Spent;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Locale;

/**
 * {@link BudgetCurve}s of one kind as a figure: steps with their intervals as bands.
 *
 * @param curves at least one, all with points
 * @param series each curve's number, which gives it its colour
 */
record CurveChart(Spent.Kind kind, List<BudgetCurve> curves, List<Integer> series) {
  private static final int WIDTH = 440;
  private static final int HEIGHT = 250;
  private static final int LEFT = 44;
  private static final int RIGHT = 14;
  private static final int TOP = 12;
  private static final int BOTTOM = 42;

  /** Colours of the style sheet; more curves repeat them with other dashes. */
  static final int COLOURS = 6;

  private static final int TICKS = 5;

  void write(Writer writer) throws IOException {
    writer.write(
        "<figure class=\"curve\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n"
            .formatted(WIDTH, HEIGHT, Html.escape("Tasks solved against " + axis())));
    axes(writer);
    for (int i = 0; i < curves.size(); i++) {
      writer.write(
          "<path class=\"band s%d\" d=\"%s\"/>\n".formatted(colour(i), band(curves.get(i))));
    }
    for (int i = 0; i < curves.size(); i++) {
      writer.write(
          "<path class=\"line s%d d%d\" d=\"%s\"><title>%s</title></path>\n"
              .formatted(
                  colour(i),
                  series.get(i) / COLOURS,
                  line(curves.get(i).points()),
                  Html.escape(curves.get(i).method())));
    }
    writer.write("</svg></figure>\n");
  }

  private int colour(int i) {
    return series.get(i) % COLOURS;
  }

  private String axis() {
    return switch (kind) {
      case CALLS -> "calls for each task";
      case TOKENS -> "tokens for each task";
      case USD -> "USD for each task";
      case DEVICE_SECONDS -> "device seconds for each task";
    };
  }

  private double most() {
    return curves.stream().mapToDouble(c -> c.points().getLast().budget()).max().orElse(1);
  }

  private void axes(Writer writer) throws IOException {
    for (int percent = 0; percent <= 100; percent += 25) {
      String y = y(percent / 100.0);
      writer.write(
          "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%s\" y2=\"%s\"/><text class=\"y\" x=\"%d\" y=\"%s\" dy=\"4\">%d&nbsp;%%</text>\n"
              .formatted(LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y, percent));
    }
    double step = step();
    for (double at = 0; at <= most() * 1.0001; at += step) {
      writer.write(
          "<text class=\"x\" x=\"%s\" y=\"%d\">%s</text>\n"
              .formatted(x(at), HEIGHT - BOTTOM + 18, tick(at, step)));
    }
    writer.write(
        "<text class=\"x title\" x=\"%d\" y=\"%d\">%s</text>\n"
            .formatted((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, axis()));
  }

  /** 1, 2 or 5 times a power of ten, so that there are a handful of ticks. */
  private double step() {
    double rough = most() / TICKS;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double step = power * 10;
    for (double factor : new double[] {5, 2, 1}) if (rough <= factor * power) step = factor * power;
    boolean whole = kind == Spent.Kind.CALLS || kind == Spent.Kind.TOKENS;
    return whole ? Math.max(1, step) : step;
  }

  private static String tick(double at, double step) {
    int digits = step >= 1 ? 0 : (int) Math.ceil(-Math.log10(step));
    return String.format(Locale.ROOT, "%,." + digits + "f", at);
  }

  private String x(double budget) {
    return Bar.decimal(LEFT + budget / most() * (WIDTH - LEFT - RIGHT));
  }

  private static String y(double share) {
    return Bar.decimal(TOP + (1 - share) * (HEIGHT - TOP - BOTTOM));
  }

  private String line(List<Point> points) {
    StringBuilder path = new StringBuilder();
    for (Point point : points) {
      path.append(path.isEmpty() ? "M" + x(point.budget()) + " " : "H" + x(point.budget()) + "V");
      path.append(y(point.share()));
    }
    return path.toString();
  }

  /** Along the upper ends, and back along the lower ones. */
  private String band(BudgetCurve curve) {
    StringBuilder path = new StringBuilder();
    for (Point point : curve.points()) {
      path.append(path.isEmpty() ? "M" + x(point.budget()) + " " : "H" + x(point.budget()) + "V");
      path.append(y(point.high()));
    }
    for (int i = curve.points().size() - 1; i >= 0; i--) {
      Point point = curve.points().get(i);
      path.append("V").append(y(point.low())).append("H").append(x(point.budget()));
    }
    return path.append("Z").toString();
  }
}
