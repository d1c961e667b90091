package dev.kbx.document;

import dev.kbx.document.Figure.Axis;
import dev.kbx.document.Figure.Join;
import dev.kbx.document.Figure.Point;
import dev.kbx.document.Figure.Series;
import dev.kbx.document.Figure.Tick;
import dev.kbx.document.Figure.Whiskers;
import java.util.List;
import java.util.Locale;

/** Draws a {@link Figure} as an SVG file of its own, without script or other files. */
public final class SvgFigure {
  /** Pixels of a centimetre. */
  private static final double CM = 42;

  private static final double WIDTH = 11 * CM;
  private static final double CHARACTER = 6.4;
  private static final int TOP = 10;
  private static final int AXIS = 46;
  private static final int LEGEND_ROW = 19;
  private static final int RIGHT = 16;

  private static final List<String> DASHES = List.of("", "6 3", "2 2", "8 3 2 3");

  private final Figure figure;
  private final double left;
  private final double height;
  private final StringBuilder svg = new StringBuilder();

  private SvgFigure(Figure figure) {
    this.figure = figure;
    int longest = figure.y().ticks().stream().mapToInt(t -> t.label().length()).max().orElse(0);
    this.left = longest * CHARACTER + (figure.y().label().isEmpty() ? 14 : 34);
    this.height = figure.height() * CM;
  }

  /** The drawing. */
  public static String of(Figure figure) {
    SvgFigure drawing = new SvgFigure(figure);
    drawing.draw();
    return drawing.svg.toString();
  }

  private void draw() {
    double legend = Math.ceil(figure.series().size() / (double) columns()) * LEGEND_ROW;
    double wide = left + WIDTH + RIGHT;
    double high = TOP + height + AXIS + legend;
    line(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %s %s\" width=\"%s\" height=\"%s\""
            + " role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\""
            + " fill=\"#222\">",
        wide, high, wide, high);
    line("<title>%s</title><desc>%s</desc>", escape(figure.id()), escape(figure.caption()));
    line("<rect width=\"%s\" height=\"%s\" fill=\"#fff\"/>", wide, high);
    axes();
    for (int i = 0; i < figure.series().size(); i++) band(figure.series().get(i), i);
    for (int i = 0; i < figure.series().size(); i++) series(figure.series().get(i), i);
    legend();
    line("</svg>");
  }

  private void axes() {
    for (Tick tick : figure.x().ticks()) {
      double x = left + figure.x().place(tick.at()) * WIDTH;
      rule(x, TOP, x, TOP + height, "#ddd");
      text(x, TOP + height + 16, "middle", tick.label());
    }
    for (Tick tick : figure.y().ticks()) {
      double y = y(tick.at());
      rule(left, y, left + WIDTH, y, "#ddd");
      text(left - 7, y + 4, "end", tick.label());
    }
    guide(figure.x(), true);
    guide(figure.y(), false);
    line(
        "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" fill=\"none\" stroke=\"#666\"/>",
        left, (double) TOP, WIDTH, height);
    text(left + WIDTH / 2, TOP + height + 36, "middle", figure.x().label());
    if (figure.y().label().isEmpty()) return;
    line(
        "<text transform=\"translate(14 %s) rotate(-90)\" text-anchor=\"middle\">%s</text>",
        TOP + height / 2, escape(figure.y().label()));
  }

  private void guide(Axis axis, boolean vertical) {
    Double at = axis.guide();
    if (at == null) return;
    double x = left + axis.place(at) * WIDTH;
    double y = TOP + height * (1 - axis.place(at));
    if (vertical) rule(x, TOP, x, TOP + height, "#888");
    else rule(left, y, left + WIDTH, y, "#888");
  }

  private void band(Series series, int index) {
    List<Point> band = series.band();
    if (band.isEmpty()) return;
    line("<path d=\"%sZ\" fill=\"%s\" fill-opacity=\"0.12\"/>", path(band), colour(index));
  }

  private void series(Series series, int index) {
    if (series.join() != Join.NONE) {
      line(
          "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"%s/>",
          path(series.line()), colour(index), dash(index));
    }
    if (series.join() == Join.STEPS) return;
    for (Point point : series.points()) {
      whisker(point, index);
      mark(x(point.x()), y(point.y()), index);
    }
  }

  private void whisker(Point point, int index) {
    if (point.low() == null || point.high() == null) return;
    boolean along = figure.whiskers() == Whiskers.ALONG_X;
    line(
        "<path d=\"M%s %sL%s %s\" stroke=\"%s\" stroke-width=\"1.2\"/>",
        along ? x(point.low()) : x(point.x()),
        along ? y(point.y()) : y(point.low()),
        along ? x(point.high()) : x(point.x()),
        along ? y(point.y()) : y(point.high()),
        colour(index));
  }

  /** The marks of {@link PgfFigure}: circle, square, triangle, diamond, open circle. */
  private void mark(double x, double y, int index) {
    String colour = colour(index);
    switch (index % Figure.MARKS) {
      case 0 -> line("<circle cx=\"%s\" cy=\"%s\" r=\"3.4\" fill=\"%s\"/>", x, y, colour);
      case 1 ->
          line(
              "<rect x=\"%s\" y=\"%s\" width=\"6.2\" height=\"6.2\" fill=\"%s\"/>",
              x - 3.1, y - 3.1, colour);
      case 2 -> line("<path d=\"M%s %sl4 7h-8z\" fill=\"%s\"/>", x, y - 4.5, colour);
      case 3 -> line("<path d=\"M%s %sl4 4-4 4-4-4z\" fill=\"%s\"/>", x, y - 4, colour);
      default ->
          line(
              "<circle cx=\"%s\" cy=\"%s\" r=\"3.2\" fill=\"#fff\" stroke=\"%s\""
                  + " stroke-width=\"1.4\"/>",
              x, y, colour);
    }
  }

  private void legend() {
    int columns = columns();
    double step = (left + WIDTH) / columns;
    for (int i = 0; i < figure.series().size(); i++) {
      Series series = figure.series().get(i);
      double x = 14 + i % columns * step;
      int row = i / columns;
      double y = TOP + height + AXIS + LEGEND_ROW * (row + 0.5);
      if (series.join() != Join.NONE) {
        line(
            "<path d=\"M%s %sh22\" stroke=\"%s\" stroke-width=\"1.6\"%s/>",
            x, y, colour(i), dash(i));
      }
      if (series.join() != Join.STEPS) mark(x + 11, y, i);
      text(x + 29, y + 4, "start", series.name());
    }
  }

  private int columns() {
    return figure.legendColumns();
  }

  private static String colour(int index) {
    return "#" + Figure.COLOURS.get(index % Figure.COLOURS.size());
  }

  private static String dash(int index) {
    String dash = DASHES.get(index / Figure.COLOURS.size() % DASHES.size());
    return dash.isEmpty() ? "" : " stroke-dasharray=\"" + dash + "\"";
  }

  private double x(double value) {
    return left + figure.x().place(value) * WIDTH;
  }

  private double y(double value) {
    return TOP + height * (1 - figure.y().place(value));
  }

  private String path(List<Point> points) {
    StringBuilder path = new StringBuilder();
    for (Point point : points) {
      path.append(path.isEmpty() ? "M" : "L")
          .append(decimal(x(point.x())))
          .append(' ')
          .append(decimal(y(point.y())));
    }
    return path.toString();
  }

  private void rule(double x1, double y1, double x2, double y2, String colour) {
    line("<path d=\"M%s %sL%s %s\" stroke=\"%s\"/>", x1, y1, x2, y2, colour);
  }

  private void text(double x, double y, String anchor, String text) {
    if (text.isEmpty()) return;
    line("<text x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>", x, y, anchor, escape(text));
  }

  /** A line of markup; numbers with one decimal. */
  private void line(String format, Object... values) {
    Object[] shown = values.clone();
    for (int i = 0; i < shown.length; i++) {
      if (shown[i] instanceof Double number) shown[i] = decimal(number);
    }
    svg.append(String.format(Locale.ROOT, format, shown)).append('\n');
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
